package import KeychaindGcrypt
package import KeychaindModel

/// Key slots: independent ways to unlock a collection. Changing them touches no item.
///
/// Changes are durable on return and atomic after a crash. They take a password or recovery key that opens the
/// collection. They throw `wrongPassword`, `mistypedRecoveryKey`, `unreadable`, `notSupported` without a file, and disk
/// errors.
extension Collection {
    package static var keySlotLabelBytes: Int { KeySlotNote.labelBytes }

    /// The key slots by number; none without a readable file.
    package var keySlots: [KeySlotInfo] {
        guard let header else { return [] }
        return header.slots.map { slot in KeySlotInfo(slot, in: header) }.sorted { $0.number < $1.number }
    }

    /// Replaces the given password; with a recovery key, the first password.
    ///
    /// Other slots and the passcode key stay.
    package func changePassword(
        from old: consuming SecureBytes,
        to new: consuming SecureBytes
    ) async throws(VaultError) {
        try await changePassword(from: SharedPassword(old), to: SharedPassword(new))
    }

    func changePassword(from old: SharedPassword, to new: SharedPassword) async throws(VaultError) {
        try context.configuration.limits.check(password: new.bytes)
        try await changeKeySlots(openedBy: old) { (change, opened) throws(VaultError) in
            try change.changePassword(opened, to: new.bytes)
        }
    }

    package func addPassword(
        _ new: consuming SecureBytes,
        label: String,
        openedBy text: consuming SecureBytes
    ) async throws(VaultError) {
        try context.configuration.limits.check(password: new)
        let new = SharedPassword(new)
        try Self.check(label)
        try await changeKeySlots(openedBy: SharedPassword(text)) { (change, opened) throws(VaultError) in
            try change.addPassword(opened, new.bytes, label: label)
        }
    }

    /// Creates and adds a recovery key; the result is its only copy.
    package func addRecoveryKey(
        label: String = "",
        openedBy text: consuming SecureBytes
    ) async throws(VaultError) -> RecoveryKey {
        let key = try RecoveryKey()
        try await add(key, label: label, openedBy: text)
        return key
    }

    package func add(
        _ key: borrowing RecoveryKey,
        label: String,
        openedBy text: consuming SecureBytes
    ) async throws(VaultError) {
        try Self.check(label)
        let symbols = SharedPassword(try cipher { () throws(GcryptError) in try key.canonical.copy(in: .locked) })
        try await changeKeySlots(openedBy: SharedPassword(text)) { (change, opened) throws(VaultError) in
            guard let key = try RecoveryKey.read(symbols.bytes) else { throw VaultError.vaultClosed }
            try change.addRecoveryKey(opened, key, label: label)
        }
    }

    /// Throws unless the text opens a key slot; unlocks nothing.
    package func verify(_ text: consuming SecureBytes) async throws(VaultError) {
        try context.configuration.limits.check(password: text)
        let (_, header) = try changeableFile()
        let text = Handoff(text)
        try await context.derivations.perform { () throws(VaultError) in
            guard let text = text.take() else { throw VaultError.vaultClosed }
            guard try header.open(with: text) != nil else {
                throw VaultError.noKeySlotOpens
            }
        }
    }

    /// Adds this machine, in place of any other; also throws `hostNotAvailable`.
    package func addHost(
        _ sealer: any HostSealer,
        label: String = "",
        openedBy text: consuming SecureBytes
    ) async throws(VaultError) {
        try Self.check(label)
        try await changeKeySlots(openedBy: SharedPassword(text)) { (change, opened) throws(VaultError) in
            try change.addHost(opened, sealer, label: label)
        }
    }

    /// The credentials of the security keys that open the collection; those of damaged slots are left out.
    package var securityKeys: [SecurityKeyCredential] {
        header?.slots.compactMap(SecurityKeySlot.credential) ?? []
    }

    /// Adds a security key; a collection may have several.
    package func addSecurityKey(
        _ credential: SecurityKeyCredential,
        secret: consuming SecureBytes,
        label: String = "",
        openedBy text: consuming SecureBytes
    ) async throws(VaultError) {
        try Self.check(label)
        let secret = SharedPassword(secret)
        try await changeKeySlots(openedBy: SharedPassword(text)) { (change, opened) throws(VaultError) in
            try change.addSecurityKey(opened, credential, secret: secret.bytes, label: label)
        }
    }

    /// Whether there is a key slot for the present `login`, which opens the collection when it is unlocked.
    package var opensWithLogin: Bool {
        guard name != .login, let header, let login = context.login.collection?.header?.identifier else { return false }
        return header.slots.contains { slot in LoginSlot.isSlot(slot, for: login) }
    }

    /// Lets the unlocked `login` open the collection, in place of any other `login`.
    ///
    /// Throws `locked` if it is locked, and `notSupported` for `login` itself.
    package func addLogin(label: String = "", openedBy text: consuming SecureBytes) async throws(VaultError) {
        try Self.check(label)
        let login = try loginKey()
        try await changeKeySlots(openedBy: SharedPassword(text)) { (change, opened) throws(VaultError) in
            try change.addLogin(opened, login, label: label)
        }
    }

    /// Throws `locked` while `login` is locked, and `notSupported` for `login` itself.
    func loginKey() throws(VaultError) -> LoginKey {
        guard name != .login else {
            throw VaultError(.notSupported, reason: "the login keychain cannot open itself")
        }
        guard let login = context.login.collection, case .unlocked(let secrets) = login.phase, let header = login.header
        else {
            throw VaultError(.locked, reason: "the login keychain is locked")
        }
        return LoginKey(identifier: header.identifier, secrets: secrets)
    }

    /// Throws `noSuchKeySlot`, `lastKeySlot` for the last password, `notSupported` for slots that no person made, and
    /// `locked` before the first unlock since the start, whose key seals the change.
    package func removeKeySlot(_ number: Int64) async throws(VaultError) {
        guard let keys else {
            try checkRemoval(ofKeySlot: number)
            throw VaultError.collectionLocked
        }
        try await changeKeySlots { (change) throws(VaultError) in
            try change.remove(number)
            return keys
        }
    }

    package func checkRemoval(ofKeySlot number: Int64) throws(VaultError) {
        let (_, header) = try changeableFile()
        let configuration = context.configuration
        var change = KeySlotChange(header: header, now: configuration.now(), costs: configuration.keyDerivation)
        try change.remove(number)
    }

    private static func check(_ label: String) throws(VaultError) {
        guard label.utf8.count <= keySlotLabelBytes else {
            throw VaultError(.limitExceeded, reason: "the label of a key slot has at most \(keySlotLabelBytes) bytes")
        }
    }

    private func changeKeySlots(
        openedBy text: SharedPassword,
        _ change: @escaping @Sendable (inout KeySlotChange, borrowing OpenedSlot) throws(VaultError) -> Void
    ) async throws(VaultError) {
        try context.configuration.limits.check(password: text.bytes)
        try await changeKeySlots { (slots) throws(VaultError) in
            guard let opened = try slots.header.open(with: text.bytes) else {
                throw VaultError.noKeySlotOpens
            }
            try change(&slots, opened)
            guard slots.header.slots.count <= CollectionFormat.maximumSlots else {
                throw VaultError(
                    .limitExceeded,
                    reason: "a collection has at most \(CollectionFormat.maximumSlots) key slots"
                )
            }
            return try UnlockedKeys(master: opened.master, collection: slots.header.identifier).collection
        }
    }

    /// Changes key slots; repeated after a concurrent change.
    ///
    /// - Parameter change: returns the keys of the collection, with which the slots are stored.
    private func changeKeySlots(
        _ change: @escaping @Sendable (inout KeySlotChange) throws(VaultError) -> CollectionKeys
    ) async throws(VaultError) {
        let configuration = context.configuration
        while true {
            let (worker, header) = try changeableFile()
            let (changed, keys) = try await context.derivations.perform { () throws(VaultError) in
                var slots = KeySlotChange(
                    header: header,
                    now: configuration.now(),
                    costs: configuration.keyDerivation
                )
                let keys = try change(&slots)
                return (slots.header.slots.sorted { first, second in first.id < second.id }, keys)
            }
            let present: CollectionHeader?
            do throws(VaultError) {
                present = try await worker.perform { (writer) throws(VaultError) in
                    try writer.replaceSlots(of: header, with: changed, keys)
                }
            } catch {
                noteFailure(error)
                throw error
            }
            disk = .working
            self.header?.slots = present?.slots ?? changed
            guard let present else {
                self.header?.highestSlot = changed.reduce(header.highestSlot) { max($0, $1.id) }
                context.observer.onChange?(name)
                return
            }
            self.header?.highestSlot = present.highestSlot
        }
    }

    private func changeableFile() throws(VaultError) -> (Worker<CollectionWriter>, CollectionHeader) {
        switch phase {
        case .deleted: throw VaultError.collectionDeleted
        case .retired: throw VaultError.collectionRetired
        case .unreadable(let reason): throw VaultError(.unreadable, reason: reason)
        case .vacant: throw VaultError(.notSupported, reason: "the collection has no password yet")
        case .locked, .unlocking, .unlocked: break
        }
        guard !isEphemeral else {
            throw VaultError(.notSupported, reason: "the collection in memory has no password")
        }
        guard case .file(let worker) = storage, let header else { throw VaultError.vaultClosed }
        return (worker, header)
    }
}

/// A password or recovery key for several attempts; wiped with the last reference.
final class SharedPassword: Sendable {
    let bytes: SecureBytes

    init(_ bytes: consuming SecureBytes) {
        self.bytes = bytes
    }
}
