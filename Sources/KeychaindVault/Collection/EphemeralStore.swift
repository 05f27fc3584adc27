import KeychaindGcrypt
import KeychaindModel

/// The sealing key of the collection in memory; it is never stored.
struct EphemeralStore: Sendable {
    let secretsKey: SecretsKey

    let identifier: [UInt8]

    private let limit: Int
    private var usedBytes = 0

    init(limit: Int) throws(VaultError) {
        let identifier = try cipher { () throws(GcryptError) in
            try RandomBytes.nonce(CollectionFormat.identifierSize)
        }
        secretsKey = try cipher { () throws(GcryptError) in
            let master = try SecureBytes.random(count: KeyPurpose.keySize, in: .locked)
            return try SecretsKey(master: master, collection: identifier)
        }
        self.identifier = identifier
        self.limit = limit
    }

    /// Seals the secrets of a change to `table`; throws `limitExceeded` when the items take too many bytes.
    mutating func seal(_ change: CollectionChange, of table: borrowing ItemTable) throws(VaultError) -> [[UInt8]?] {
        var sealed: [[UInt8]?] = []
        var growth = 0
        for row in change.rows {
            let old = table[row.id]
            if let old { growth -= Self.size(of: old) }
            var secret: [UInt8]?
            switch row {
            case .insert(let row), .update(let row, _):
                if let new = row.secret {
                    secret = try cipher { () throws(GcryptError) in try secretsKey.seal(new.secret, of: row) }
                }
                growth += Self.size(of: row.metadata) + (secret?.count ?? old?.sealedSecret?.count ?? 0)
            case .delete: break
            }
            sealed.append(secret)
        }
        guard growth <= 0 || usedBytes + growth <= limit else {
            throw VaultError(.limitExceeded, reason: "the collection in memory holds at most \(limit) bytes")
        }
        usedBytes += growth
        return sealed
    }

    private static func size(of record: ItemRecord) -> Int {
        size(of: record.metadata) + (record.sealedSecret?.count ?? 0)
    }

    private static func size(of metadata: ItemMetadata) -> Int {
        // An estimate for the record and its index entries.
        256 + metadata.label.utf8.count + metadata.attributes.packed.count
    }
}
