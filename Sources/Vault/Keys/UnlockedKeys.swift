import Gcrypt

/// The keys of an unlocked collection.
struct UnlockedKeys: Sendable {
    /// The keys that stay when the collection is locked.
    let collection: CollectionKeys

    /// The key that is wiped when the collection is locked.
    let secrets: SecretsKey

    /// The kind of key slot that was opened; nil for a new collection.
    var openedBy: KeySlotInfo.Kind?

    /// Creates the keys from a handover.
    init(collection: CollectionKeys, secrets: SecretsKey) {
        self.collection = collection
        self.secrets = secrets
    }

    /// Derives the keys from the master key.
    init(master: borrowing SecureBytes, collection identifier: [UInt8]) throws(VaultError) {
        do throws(GcryptError) {
            collection = try CollectionKeys(master: master, collection: identifier)
            secrets = try SecretsKey(master: master, collection: identifier)
        } catch {
            throw VaultError(error)
        }
    }

    /// Opens the first matching key slot; `wrongPassword` when there is none.
    static func unlock(_ header: CollectionHeader, with key: UnlockKey) throws(VaultError) -> UnlockedKeys {
        if case .keys(let keys) = key { return keys }
        guard let opened = try key.open(header) else {
            throw VaultError(.wrongPassword, reason: "the password opens no key slot")
        }
        var keys = try UnlockedKeys(master: opened.master, collection: header.identifier)
        keys.openedBy = KeySlotInfo(opened.slot, in: header).kind
        return keys
    }

    /// Creates a random master key and adds a password slot for it to the header.
    static func create(
        _ header: inout CollectionHeader,
        password: borrowing SecureBytes,
        derivation: Argon2id
    ) throws(VaultError) -> UnlockedKeys {
        let master = try cipher { () throws(GcryptError) in
            try SecureBytes.random(count: KeyPurpose.keySize, in: .locked)
        }
        header.slots.append(
            try PasswordSlot.seal(
                master,
                password: password,
                derivation: derivation,
                slot: header.unusedSlot,
                collection: header.identifier
            )
        )
        return try UnlockedKeys(master: master, collection: header.identifier)
    }
}
