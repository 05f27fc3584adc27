package import Gcrypt
import KeychainModel

/// The ways to open a collection: they are independent, and a change of them touches no item.
///
/// When a change returns, the disk has it; a crash leaves the slots as they were or as they are to be. All take a text that opens the
/// collection, be that a password or a recovery key, and throw `wrongPassword` when it does not, `mistypedRecoveryKey`, `unreadable`,
/// `notSupported` where there is no file, and what the disk may.
extension Collection {
    /// The longest label of a key slot, in bytes.
    package static var keySlotLabelBytes: Int { KeySlotNote.labelBytes }

    /// The ways to open the collection, in the order of their numbers; none when there is no file that can be read.
    package var keySlots: [KeySlotInfo] {
        guard let header else { return [] }
        return header.slots.map { slot in KeySlotInfo(slot, in: header) }.sorted { $0.number < $1.number }
    }

    /// Puts a new password in the place of the one that is given; of the first one, when a recovery key is given.
    ///
    /// All other slots go on working, and so does whatever the passcode opens.
    package func changePassword(
        from old: consuming SecureBytes,
        to new: consuming SecureBytes
    ) async throws(VaultError) {
        try await changePassword(from: SharedPassword(old), to: SharedPassword(new))
    }

    /// The same with passwords that are tried on more than one collection.
    func changePassword(from old: SharedPassword, to new: SharedPassword) async throws(VaultError) {
        try context.configuration.limits.check(password: new.bytes)
        try await changeKeySlots(openedBy: old) { (change, opened) throws(VaultError) in
            try change.changePassword(opened, to: new.bytes)
        }
    }

    /// Adds a password beside those that there are.
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

    /// Makes a recovery key, which is nowhere else than in the result.
    package func addRecoveryKey(
        label: String = "",
        openedBy text: consuming SecureBytes
    ) async throws(VaultError) -> RecoveryKey {
        let key = try RecoveryKey()
        try await add(key, label: label, openedBy: text)
        return key
    }

    /// Lets a recovery key open the collection, which was shown to a person before.
    package func add(
        _ key: borrowing RecoveryKey,
        label: String,
        openedBy text: consuming SecureBytes
    ) async throws(VaultError) {
        try Self.check(label)
        let symbols = SharedPassword(try cipher { () throws(GcryptError) in try key.canonical.copy(in: .locked) })
        try await changeKeySlots(openedBy: SharedPassword(text)) { (change, opened) throws(VaultError) in
            guard let key = try RecoveryKey.read(symbols.bytes) else { throw Self.closed }
            try change.addRecoveryKey(opened, key, label: label)
        }
    }

    /// Tells, on a thread that may wait, whether a text opens the collection; it throws if not, and unlocks nothing.
    package func verify(_ text: consuming SecureBytes) async throws(VaultError) {
        try context.configuration.limits.check(password: text)
        let (_, header) = try changeableFile()
        let text = Handoff(text)
        try await context.deriver.perform { (_) throws(VaultError) in
            guard let text = text.take() else { throw Self.closed }
            guard try header.open(with: text) != nil else {
                throw VaultError(.wrongPassword, reason: "the password opens no key slot")
            }
        }
    }

    /// Lets the machine open the collection, in the place of any machine that could.
    ///
    /// Throws `hostNotAvailable`, too.
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

    /// Takes a way to open the collection away.
    ///
    /// Throws `noSuchKeySlot`; `lastKeySlot` for the last password; `notSupported` for slots that are not a person's.
    package func removeKeySlot(_ number: Int64) async throws(VaultError) {
        try await changeKeySlots { (change) throws(VaultError) in try change.remove(number) }
    }

    /// Throws what ``removeKeySlot(_:)`` would.
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

    /// Changes slots with the master key that a text gives.
    private func changeKeySlots(
        openedBy text: SharedPassword,
        _ change: @escaping @Sendable (inout KeySlotChange, borrowing OpenedSlot) throws(VaultError) -> Void
    ) async throws(VaultError) {
        try context.configuration.limits.check(password: text.bytes)
        try await changeKeySlots { (slots) throws(VaultError) in
            guard let opened = try slots.header.open(with: text.bytes) else {
                throw VaultError(.wrongPassword, reason: "the password opens no key slot")
            }
            try change(&slots, opened)
            guard slots.header.slots.count <= CollectionFormat.maximumSlots else {
                throw VaultError(.limitExceeded, reason: "a collection has at most so many key slots")
            }
        }
    }

    /// Changes slots, anew when another change came first.
    private func changeKeySlots(
        _ change: @escaping @Sendable (inout KeySlotChange) throws(VaultError) -> Void
    ) async throws(VaultError) {
        let configuration = context.configuration
        while true {
            let (worker, header) = try changeableFile()
            // The disk is idle while a key is derived.
            worker.post { writer in writer.checkStructure() }
            let changed = try await context.deriver.perform { (_) throws(VaultError) in
                var slots = KeySlotChange(
                    header: header,
                    now: configuration.now(),
                    costs: configuration.keyDerivation
                )
                try change(&slots)
                // As the file gives them: another order would look like another's change.
                return slots.header.slots.sorted { first, second in first.id < second.id }
            }
            let present = try await worker.perform { (writer) throws(VaultError) in
                try writer.replaceSlots(of: header, with: changed)
            }
            self.header?.slots = present?.slots ?? changed
            guard let present else {
                context.observer.onChange?(name)
                return
            }
            self.header?.highestSlot = present.highestSlot
        }
    }

    private func changeableFile() throws(VaultError) -> (Worker<CollectionWriter>, CollectionHeader) {
        switch phase {
        case .deleted: throw Self.deleted
        case .unreadable(let reason): throw VaultError(.unreadable, reason: reason)
        case .vacant: throw VaultError(.notSupported, reason: "the collection has no password yet")
        case .locked, .unlocking, .unlocked: break
        }
        guard !isEphemeral else {
            throw VaultError(.notSupported, reason: "the collection in memory has no password")
        }
        guard case .file(let worker) = storage, let header else { throw Self.closed }
        return (worker, header)
    }
}
