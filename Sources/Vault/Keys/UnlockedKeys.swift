import Gcrypt

/// All keys of a collection that stay while it is unlocked, as a master key gives them.
struct UnlockedKeys: Sendable {
    /// The keys that stay.
    let collection: CollectionKeys

    /// The key that goes when the collection is locked.
    let secrets: SecretsKey

    /// A key slot for the passcode of `login`, if the collection has none and should have one.
    let passcodeSlot: KeySlot?

    /// What opened the collection; nil when it was made.
    var openedBy: KeySlotInfo.Kind?

    /// Takes the keys that another process has derived.
    init(collection: CollectionKeys, secrets: SecretsKey) {
        self.collection = collection
        self.secrets = secrets
        passcodeSlot = nil
    }

    /// Derives the keys; the master key is the caller's to wipe.
    ///
    /// - Parameters:
    ///   - header: the identifier, and the slots that there are.
    ///   - login: login's public key, if it is known and this is another collection.
    init(master: borrowing SecureBytes, header: CollectionHeader, login: [UInt8]?) throws(VaultError) {
        let identifier = header.identifier
        do throws(GcryptError) {
            collection = try CollectionKeys(master: master, collection: identifier)
            secrets = try SecretsKey(master: master, collection: identifier)
        } catch {
            throw VaultError(error)
        }
        guard let login, !header.slots.contains(where: { slot in PasscodeSlot.isSlot(slot, for: login) }) else {
            passcodeSlot = nil
            return
        }
        let privateKey = try cipher { () throws(GcryptError) in
            try KeyPurpose.passcode.derive(from: master, collection: identifier)
        }
        passcodeSlot = try PasscodeSlot.seal(
            privateKey,
            to: login,
            slot: header.unusedSlot,
            collection: identifier
        )
    }

    /// Opens the first key slot that the key fits; `wrongPassword` when it fits none.
    static func unlock(
        _ header: CollectionHeader,
        with key: UnlockKey,
        login: [UInt8]?
    ) throws(VaultError) -> UnlockedKeys {
        if case .keys(let keys) = key { return keys }
        guard let opened = try key.open(header) else {
            throw VaultError(.wrongPassword, reason: "the password opens no key slot")
        }
        var keys = try UnlockedKeys(master: opened.master, header: header, login: login)
        keys.openedBy = KeySlotInfo(opened.slot, in: header).kind
        return keys
    }

    /// Makes a random master key and a slot for it that a password opens, which is added to the header.
    static func create(
        _ header: inout CollectionHeader,
        password: borrowing SecureBytes,
        derivation: Argon2id,
        login: [UInt8]?
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
        let keys = try UnlockedKeys(master: master, header: header, login: login)
        if let slot = keys.passcodeSlot { header.slots.append(slot) }
        return keys
    }
}
