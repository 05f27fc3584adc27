import Gcrypt

/// All keys of a collection that stay while it is unlocked, as a master key gives them.
struct UnlockedKeys: Sendable {
    /// The keys that stay.
    let collection: CollectionKeys

    /// The key that goes when the collection is locked.
    let secrets: SecretsKey

    /// What opened the collection; nil when it was made.
    var openedBy: KeySlotInfo.Kind?

    /// Takes the keys that another process has derived.
    init(collection: CollectionKeys, secrets: SecretsKey) {
        self.collection = collection
        self.secrets = secrets
    }

    /// Derives the keys; the master key is the caller's to wipe.
    init(master: borrowing SecureBytes, collection identifier: [UInt8]) throws(VaultError) {
        do throws(GcryptError) {
            collection = try CollectionKeys(master: master, collection: identifier)
            secrets = try SecretsKey(master: master, collection: identifier)
        } catch {
            throw VaultError(error)
        }
    }

    /// Opens the first key slot that the key fits; `wrongPassword` when it fits none.
    static func unlock(_ header: CollectionHeader, with key: UnlockKey) throws(VaultError) -> UnlockedKeys {
        if case .keys(let keys) = key { return keys }
        guard let opened = try key.open(header) else {
            throw VaultError(.wrongPassword, reason: "the password opens no key slot")
        }
        var keys = try UnlockedKeys(master: opened.master, collection: header.identifier)
        keys.openedBy = KeySlotInfo(opened.slot, in: header).kind
        return keys
    }

    /// Makes a random master key and a slot for it that a password opens, which is added to the header.
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
