import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// The attribute values that identify an item uniquely in its collection.
struct UniqueKey {
    /// The key in one collection, for locking.
    struct Place: Hashable {
        let collection: CollectionName
        let present: Attributes
        let absent: [String]
    }

    /// The named attributes that the item has.
    let present: Attributes

    /// The named attributes that the item lacks; an equal item lacks them, too.
    let absent: [String]

    let attributes: Attributes

    /// Whether to replace an item with the same attributes.
    let replaces: Bool

    /// Reads the arguments of `CreateItem` of `org.keychaind.Collection1`, except the secret.
    @BusActor
    init(from call: MethodCall) throws(BusError) {
        var reader = call.message.makeReader()
        let attributes = try ItemDescription(from: &reader).attributes
        reader.skip()
        let replaces = try Bool(from: &reader)
        try self.init(of: attributes, names: try UniqueKey.readNames(&reader), replaces: replaces)
    }

    init(of attributes: Attributes, names: [String], replaces: Bool = false) throws(BusError) {
        guard !names.isEmpty else { throw BusError(.invalidArguments, "no unique attribute is named") }
        let pairs = names.map { name in (name, attributes[name]) }
        present = Attributes(pairs.compactMap { name, value in value.map { (name, $0) } })
        absent = pairs.filter { $0.1 == nil }.map(\.0).sorted()
        self.attributes = attributes
        self.replaces = replaces
    }

    /// Reads at most as many names as an item may have attributes.
    static func readNames(_ reader: inout Reader) throws(BusError) -> [String] {
        try [String](from: &reader, limit: VaultLimits().attributes)
    }

    func place(in collection: Collection) -> Place {
        Place(collection: collection.name, present: present, absent: absent)
    }
}

extension Client {
    /// Whether an item that exists for the client, other than the given one, has the key.
    func hasItem(with key: UniqueKey, otherThan replaced: ItemID?, in collection: Collection) -> Bool {
        search(key.present, in: collection).contains { id in
            guard id != replaced, let attributes = collection.item(id)?.attributes else { return false }
            return key.absent.allSatisfy { attributes[$0] == nil }
        }
    }
}
