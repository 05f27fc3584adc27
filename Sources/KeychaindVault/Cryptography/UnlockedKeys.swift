import KeychaindGcrypt

struct UnlockedKeys: Sendable {
    /// The keys that stay after a lock.
    let collection: CollectionKeys

    /// The key that a lock wipes.
    let secrets: SecretsKey

    /// The kind of key slot that was opened; nil for a new collection.
    var openedBy: KeySlotInfo.Kind?

    init(collection: CollectionKeys, secrets: SecretsKey) {
        self.collection = collection
        self.secrets = secrets
    }

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
            throw VaultError.noKeySlotOpens
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

enum UnlockKey: Sendable {
    /// A password, or a recovery key as typed.
    case text(Handoff<SecureBytes>)
    case host(any HostSealer)
    /// The secret of a security key.
    case securityKey(Handoff<SecureBytes>)
    case login(LoginKey)
    case keys(UnlockedKeys)

    func open(_ header: CollectionHeader) throws(VaultError) -> OpenedSlot? {
        switch self {
        case .keys: return nil
        case .text(let text):
            guard let text = text.take() else { throw VaultError.vaultClosed }
            return try header.open(with: text)
        case .securityKey(let secret):
            guard let secret = secret.take() else { throw VaultError.vaultClosed }
            return try header.open { (slot) throws(VaultError) in
                try SecurityKeySlot.open(slot, with: secret, collection: header.identifier)
            }
        case .login(let login):
            return try header.open { (slot) throws(VaultError) in
                try LoginSlot.open(slot, with: login, collection: header.identifier)
            }
        case .host(let sealer):
            return try header.open { (slot) throws(VaultError) in
                try HostSlot.open(slot, by: sealer, collection: header.identifier)
            }
        }
    }
}
