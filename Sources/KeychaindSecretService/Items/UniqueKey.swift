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
        otherThan id: ItemID?,
        in collection: Collection,
        for client: Client
    ) async throws(BusError) {
        let exists = await client.hasItem(with: key, otherThan: id, in: collection, largeAnswers)
        // A locked collection is refused later, whatever it contains.
        guard collection.isLocked || !exists else {
            throw BusError(.alreadyExists, "another item has the same unique attributes")
        }
    }
}

extension Client {
    /// Whether an item that exists for the client, other than the given one, has the key.
    ///
    /// Many items may have the present attributes, and other calls are handled in between.
    fileprivate func hasItem(
        with key: UniqueKey,
        otherThan replaced: ItemID?,
        in collection: Collection,
        _ answers: LargeAnswers
    ) async -> Bool {
        await answers.lookAt(collection.itemCount, for: self) { slice in
            var found: [ItemID]?
            if !view.isConfined {
                found = await collection.search(key.present) {
                    await slice.yieldIfOver()
                    return true
                }
            }
            // What a program in a sandbox sees may have changed in between.
            let seen = view.isConfined ? nil : found
            for id in seen ?? search(key.present, in: collection) where id != replaced {
                await slice.yieldIfOver()
                guard sees(id, in: collection) else { continue }
                if let attributes = collection.item(id)?.attributes, key.matches(attributes) { return true }
            }
            return false
        }
    }
}
