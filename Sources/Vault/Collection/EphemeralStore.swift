import Gcrypt
import KeychainModel

/// What keeps the secrets of a collection that lives in memory: a key that was never written anywhere.
struct EphemeralStore: Sendable {
    /// The key, random and this process's alone.
    let secretsKey: SecretsKey

    /// What everything sealed is bound to: random, and forgotten with the process.
    let identifier: [UInt8]

    /// Makes a key.
    init() throws(VaultError) {
        let identifier = try cipher { () throws(GcryptError) in
            try RandomBytes.nonce(CollectionFormat.identifierSize)
        }
        secretsKey = try cipher { () throws(GcryptError) in
            let master = try SecureBytes.random(count: KeyPurpose.keySize, in: .locked)
            return try SecretsKey(master: master, collection: identifier)
        }
        self.identifier = identifier
    }

    /// Seals the secrets of a change, all of which stay in memory.
    func seal(_ change: CollectionChange) throws(VaultError) -> [[UInt8]?] {
        var sealed: [[UInt8]?] = []
        for row in change.rows {
            switch row {
            case .insert(let row), .update(let row, _):
                guard let secret = row.secret else {
                    sealed.append(nil)
                    continue
                }
                sealed.append(
                    try cipher { () throws(GcryptError) in
                        try secretsKey.seal(secret.secret, of: row)
                    }
                )
            case .delete:
                sealed.append(nil)
            }
        }
        return sealed
    }
}
