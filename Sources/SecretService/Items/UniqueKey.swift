import DBus
import KeychainModel
import Vault

/// What no two items may have in common: the values of some attributes of an item that is to be created or changed.
struct UniqueKey {
    /// The key in one collection: what two programs at once may have to take turns for.
    struct Place: Hashable {
        let collection: CollectionName
        let present: Attributes
        let absent: [String]
    }

    /// Those of the attributes that the item has.
    let present: Attributes

    /// The names of those that it does not have; what makes another item the same is that it does not have them either.
    let absent: [String]

    /// All attributes of the item.
    let attributes: Attributes

    /// Whether an item with the same attributes is to be replaced.
    let replaces: Bool

    /// Reads the arguments of `CreateItem` of `org.keychaind.Collection1`, but for the secret.
    @BusActor
    init(from call: MethodCall) throws(BusError) {
        var reader = call.message.makeReader()
        let attributes = try ItemDescription(from: &reader).attributes
        reader.skip()
        let replaces = try Bool(from: &reader)
        try self.init(of: attributes, names: try UniqueKey.readNames(&reader), replaces: replaces)
    }

    /// Takes the attributes that an item is to have, and the names of those that have to be unique.
    init(of attributes: Attributes, names: [String], replaces: Bool = false) throws(BusError) {
        guard !names.isEmpty else { throw BusError(.invalidArguments, "no attribute is named that is to be unique") }
        let pairs = names.map { name in (name, attributes[name]) }
        present = Attributes(pairs.compactMap { name, value in value.map { (name, $0) } })
        absent = pairs.filter { $0.1 == nil }.map(\.0).sorted()
        self.attributes = attributes
        self.replaces = replaces
    }

    /// Reads the names of attributes that have to be unique: no more than an item may have.
    static func readNames(_ reader: inout Reader) throws(BusError) -> [String] {
        try [String](from: &reader, limit: VaultLimits().attributes)
    }

    /// The key in a collection.
    func place(in collection: Collection) -> Place {
        Place(collection: collection.name, present: present, absent: absent)
    }
}

extension Collection {
    /// Whether there is an item, other than one, that has the same key.
    func hasItem(with key: UniqueKey, otherThan replaced: ItemID?) -> Bool {
        search(key.present).contains { id in
            guard id != replaced, let attributes = item(id)?.attributes else { return false }
            return key.absent.allSatisfy { attributes[$0] == nil }
        }
    }
}
