import KeychaindGcrypt
import KeychaindModel

/// The sealing key of the collection in memory, which is never stored, and the shares of its room.
struct EphemeralStore: Sendable {
    let secretsKey: SecretsKey

    let identifier: [UInt8]

    private var shares: MemoryShares

    init(limit: Int) throws(VaultError) {
        let identifier = try cipher { () throws(GcryptError) in
            try RandomBytes.nonce(CollectionFormat.identifierSize)
        }
        secretsKey = try cipher { () throws(GcryptError) in
            let master = try SecureBytes.random(count: KeyPurpose.keySize, in: .locked)
            return try SecretsKey(master: master, collection: identifier)
        }
        self.identifier = identifier
        shares = MemoryShares(limit: limit)
    }

    /// Seals the secrets of a change of the owner to `table`; throws `limitExceeded` when the items take too many
    /// bytes.
    mutating func seal(
        _ change: CollectionChange,
        of table: borrowing ItemTable,
        by owner: WorkOwner
    ) throws(VaultError) -> [[UInt8]?] {
        var sealed: [[UInt8]?] = []
        var sizes: [(ItemID, Int)] = []
        for row in change.rows {
            var secret: [UInt8]?
            var size = 0
            switch row {
            case .insert(let row), .update(let row):
                if let new = row.secret {
                    secret = try cipher { () throws(GcryptError) in try secretsKey.seal(new.secret, of: row) }
                }
                size = Self.size(of: row.metadata) + (secret?.count ?? table[row.id]?.sealedSecret?.count ?? 0)
            case .delete: break
            }
            sealed.append(secret)
            sizes.append((row.id, size))
        }
        try shares.change(to: sizes, by: owner)
        return sealed
    }

    private static func size(of metadata: ItemMetadata) -> Int {
        // An estimate for the record and its index entries.
        256 + metadata.label.utf8.count + metadata.attributes.packed.count
    }
}

/// Who uses how much of the room of the collection in memory.
///
/// Each owner has at most as much as is left free: whatever others store, there is room for a further one.
struct MemoryShares: Sendable {
    /// The bytes of an item; those of its last change's owner.
    private struct Use {
        let owner: WorkOwner
        let size: Int
    }

    private let limit: Int
    private var items: [ItemID: Use] = [:]
    private var sums: [WorkOwner: Int] = [:]
    private var sum = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Gives items other sizes; zero removes one.
    ///
    /// Throws `limitExceeded`, and changes nothing, if they grow beyond the owner's share.
    mutating func change(to sizes: [(item: ItemID, size: Int)], by owner: WorkOwner) throws(VaultError) {
        // What the owner has, and all together, after the change.
        var (own, all) = (sums[owner, default: 0], sum)
        for (item, size) in sizes {
            let old = items[item]
            if let old, old.owner == owner { own -= old.size }
            own += size
            all += size - (old?.size ?? 0)
        }
        guard all <= sum || own <= limit - all else {
            throw VaultError(
                .limitExceeded,
                reason: "the collection in memory holds \(limit) bytes, half of what others leave for each program"
            )
        }
        for (item, size) in sizes { set(item, to: Use(owner: owner, size: size)) }
    }

    private mutating func set(_ item: ItemID, to new: Use) {
        if let old = items.removeValue(forKey: item) { add(-old.size, to: old.owner) }
        guard new.size > 0 else { return }
        items[item] = new
        add(new.size, to: new.owner)
    }

    private mutating func add(_ size: Int, to owner: WorkOwner) {
        sum += size
        let own = sums[owner, default: 0] + size
        // An owner without items must not be kept.
        sums[owner] = own > 0 ? own : nil
    }
}
