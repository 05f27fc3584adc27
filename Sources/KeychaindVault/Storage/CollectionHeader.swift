package import KeychaindGcrypt
package import KeychaindModel

/// The public part of a collection's file, readable without a key.
package struct CollectionHeader: Equatable, Sendable {
    /// The identifier that all sealed data is bound to: 16 random bytes.
    var identifier: [UInt8]

    /// The display name at the last write.
    var label: String
    var created: Timestamp
    var modified: Timestamp

    var indexKey: [UInt8]

    var slots: [KeySlot]

    /// The highest slot number in the file, damaged slots included.
    var highestSlot: Int64 = 0

    /// The number of stored slots that do not match their checksum.
    var damagedSlots = 0

    package init(
        identifier: [UInt8],
        label: String,
        created: Timestamp,
        modified: Timestamp,
        indexKey: [UInt8],
        slots: [KeySlot]
    ) {
        self.identifier = identifier
        self.label = label
        self.created = created
        self.modified = modified
        self.indexKey = indexKey
        self.slots = slots
    }

    var problem: String? {
        guard damagedSlots > 0 else { return nil }
        return "\(damagedSlots) of its key slots \(damagedSlots.isOrAre) damaged and cannot open the collection"
    }

    var hasPassword: Bool {
        slots.contains { slot in slot.kind == KeySlot.Kind.password.rawValue }
    }

    var unusedSlot: Int64 {
        max(highestSlot, slots.map(\.id).max() ?? 0) &+ 1
    }

    func master(password: borrowing SecureBytes) throws(VaultError) -> SecureBytes? {
        let opened = try open(byPassword: password)
        guard let opened = consume opened else { return nil }
        return opened.master
    }

    /// Opens the first slot that a password or recovery key opens; nil when there is none.
    ///
    /// Throws `mistypedRecoveryKey` if no slot opens and the text looks like a recovery key with a mistake.
    func open(with text: borrowing SecureBytes) throws(VaultError) -> OpenedSlot? {
        let opened = try open(byPassword: text)
        if let opened = consume opened { return opened }
        guard slots.contains(where: { slot in slot.kind == KeySlot.Kind.recoveryKey.rawValue }),
            let key = try RecoveryKey.read(text)
        else { return nil }
        return try open { (slot) throws(VaultError) in
            try RecoverySlot.open(slot, with: key, collection: identifier)
        }
    }

    /// The most work for one password in all slots together, as ``Argon2id/work``; our own slots need less.
    private static let maximumWork = 16 << 20

    /// Tries the slots of passwords.
    ///
    /// All other derivations wait meanwhile, so no file may make it take hours.
    package func open(
        byPassword password: borrowing SecureBytes,
        upTo work: Int = maximumWork
    ) throws(VaultError) -> OpenedSlot? {
        var rest = work
        return try open { (slot) throws(VaultError) in
            let cost = PasswordSlot.work(of: slot) ?? 0
            guard cost <= rest else {
                throw VaultError(.unreadable, reason: "key slot \(slot.id) costs too much beside the others")
            }
            rest -= cost
            return try PasswordSlot.open(slot, password: password, collection: identifier)
        }
    }

    /// Tries all slots; an unreadable slot does not stop the search.
    func open(
        by attempt: (KeySlot) throws(VaultError) -> SecureBytes?
    ) throws(VaultError) -> OpenedSlot? {
        var failure: VaultError?
        for slot in slots {
            do throws(VaultError) {
                if let master = try attempt(slot) { return OpenedSlot(slot: slot, master: master) }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return nil
    }
}
