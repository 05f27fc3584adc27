import Glibc
import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// The attribute values that identify an item uniquely in its collection.
struct UniqueKey {
    /// The key in one collection, for locking.
    struct Place: Hashable {
        let collection: CollectionName
        let present: Attributes
        let absent: Set<[UInt8]>
    }

    /// The named attributes that the item has.
    let present: Attributes

    /// The named attributes that the item lacks; an equal item lacks them, too.
    ///
    /// As bytes, since equal strings may differ in them.
    let absent: Set<[UInt8]>

    /// Reads the arguments of `CreateItem` of `org.keychaind.Collection1`, except the secret.
    @BusActor
    init(from call: MethodCall) throws(BusError) {
        var reader = call.message.makeReader()
        let attributes = try ItemDescription(from: &reader).attributes
        reader.skip()
        reader.skip()
        try self.init(of: attributes, names: try UniqueKey.readNames(&reader))
    }

    init(of attributes: Attributes, names: [String]) throws(BusError) {
        guard !names.isEmpty else { throw BusError(.invalidArguments, "no unique attribute is named") }
        var absent = Set(names.map { Array($0.utf8) })
        var present: [(String, String)] = []
        attributes.forEach { name, value in
            guard absent.remove(UniqueKey.bytes(of: name)) != nil else { return }
            present.append((String(cString: name), String(cString: value)))
        }
        self.present = Attributes(present)
        self.absent = absent
    }

    /// The bytes of names and values.
    var byteCount: Int { present.packed.count + absent.reduce(0) { $0 + $1.count } }

    /// Reads at most as many names as an item may have attributes.
    static func readNames(_ reader: inout Reader) throws(BusError) -> [String] {
        try [String](from: &reader, limit: VaultLimits().attributes)
    }

    /// Whether an item with the present attributes has the key.
    func matches(_ attributes: Attributes) -> Bool {
        guard !absent.isEmpty else { return true }
        var matches = true
        attributes.forEach { name, _ in
            if matches, absent.contains(UniqueKey.bytes(of: name)) { matches = false }
        }
        return matches
    }

    private static func bytes(of name: UnsafePointer<CChar>) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
    }

    func place(in collection: Collection) -> Place {
        Place(collection: collection.name, present: present, absent: absent)
    }
}

extension Items {
    /// Throws `AlreadyExists` if an item that exists for the client, other than the given one, has the key.
    func check(
        _ key: UniqueKey,
        otherThan replaced: ItemID?,
        in collection: Collection,
        for client: Client
    ) throws(BusError) {
        // A locked collection is refused later, whatever it contains.
        guard !collection.isLocked else { return }
        let exists = client.search(key.present, in: collection).contains { id in
            id != replaced && collection.item(id).map { key.matches($0.attributes) } ?? false
        }
        guard !exists else { throw BusError(.alreadyExists, "another item has the same unique attributes") }
    }
}
