import Gcrypt

/// All keys of a collection, as a master key gives them.
struct UnlockedKeys: Sendable {
    /// The keys that stay.
    let collection: CollectionKeys

    /// The key that goes when the collection is locked.
    let secrets: SecretsKey

    /// Derives the keys; the master key is the caller's to wipe.
    init(master: borrowing SecureBytes, collection identifier: [UInt8]) throws(VaultError) {
        do throws(GcryptError) {
            collection = try CollectionKeys(master: master, collection: identifier)
            secrets = try SecretsKey(master: master, collection: identifier)
        } catch {
            throw VaultError(error)
        }
    }

    /// Opens the first key slot that the password fits; `wrongPassword` when it fits none.
    static func unlock(
        _ header: CollectionHeader,
        password: borrowing SecureBytes
    ) throws(VaultError) -> UnlockedKeys {
        for slot in header.slots {
            if let master = try PasswordSlot.open(slot, password: password, collection: header.identifier) {
                return try UnlockedKeys(master: master, collection: header.identifier)
            }
        }
        throw VaultError(.wrongPassword, reason: "the password opens no key slot")
    }

    /// Makes a random master key and a slot for it that a password opens.
    static func create(
        password: borrowing SecureBytes,
        derivation: Argon2id,
        collection identifier: [UInt8]
    ) throws(VaultError) -> (keys: UnlockedKeys, slot: KeySlot) {
        let master = try cipher { () throws(GcryptError) in
            try SecureBytes.random(count: KeyPurpose.keySize, in: .locked)
        }
        let slot = try PasswordSlot.seal(
            master,
            password: password,
            derivation: derivation,
            slot: 1,
            collection: identifier
        )
        return (try UnlockedKeys(master: master, collection: identifier), slot)
    }
}
