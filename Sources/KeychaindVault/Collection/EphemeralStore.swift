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
