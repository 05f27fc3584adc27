import KeychaindGcrypt
import KeychaindModel

/// Seals the rows of a change and updates the multiset hash.
struct RowSealer {
    private let keys: CollectionKeys
    private let secretsKey: SecretsKey
    private(set) var writes: [CollectionFile.Write] = []

    private(set) var hash: MultisetHash

    init(keys: CollectionKeys, secretsKey: SecretsKey, hash: MultisetHash) {
        self.keys = keys
        self.secretsKey = secretsKey
        self.hash = hash
    }

    mutating func add(_ change: RowChange) throws(VaultError) {
        do throws(GcryptError) {
            switch change {
            case .insert(let row):
                guard let secret = row.secret else {
                    throw GcryptError(.operationFailed, reason: "a new item has no secret")
                }
                hash.add(try keys.hash(item: row.id.rawValue, revision: row.revision))
                let tags = Self.encode(row.tags)
                writes.append(
                    .insert(
                        id: row.id,
                        revision: row.revision,
                        tags: tags,
                        metadata: try seal(row, tags: tags),
                        secret: try seal(secret, of: row)
                    )
                )
            case .update(let row, let oldRevision):
                hash.subtract(try keys.hash(item: row.id.rawValue, revision: oldRevision))
                hash.add(try keys.hash(item: row.id.rawValue, revision: row.revision))
                let tags = Self.encode(row.tags)
                var secret: [UInt8]?
                if let newSecret = row.secret { secret = try seal(newSecret, of: row) }
                writes.append(
                    .update(
                        id: row.id,
                        revision: row.revision,
                        tags: tags,
                        metadata: try seal(row, tags: tags),
                        secret: secret
                    )
                )
            case .delete(let id, let oldRevision):
                hash.subtract(try keys.hash(item: id.rawValue, revision: oldRevision))
                writes.append(.delete(id: id))
            }
        } catch {
            throw VaultError(error)
        }
    }

    /// Returns for each row the sealed secret to keep in memory; nil when there is none or it is too large.
    func residentSecrets(upTo limit: Int) -> [[UInt8]?] {
        writes.map { write in
            switch write {
            case .insert(_, _, _, _, let secret): secret.count <= limit + SecretsKey.overhead ? secret : nil
            case .update(_, _, _, _, let secret?): secret.count <= limit + SecretsKey.overhead ? secret : nil
            case .update, .delete: nil
            }
        }
    }

    static func encode(_ tags: [UInt64]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(tags.count * 8)
        for tag in tags { bytes.append(bigEndian: tag) }
        return bytes
    }

    private func seal(_ row: ItemRow, tags: [UInt8]) throws(GcryptError) -> [UInt8] {
        try keys.seal(row.metadata, of: row.id, revision: row.revision, tags: tags)
    }

    private func seal(_ secret: SharedSecret, of row: ItemRow) throws(GcryptError) -> [UInt8] {
        try secretsKey.seal(secret.secret, of: row)
    }
}
