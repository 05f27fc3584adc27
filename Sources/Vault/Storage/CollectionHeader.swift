import Gcrypt
import KeychainModel

/// What the file of a collection tells without a key.
struct CollectionHeader: Equatable, Sendable {
    /// The identifier that everything sealed in the file is bound to: 16 random bytes.
    var identifier: [UInt8]

    /// The name for people, as it was when the file was last written.
    var label: String

    /// When the collection was made.
    var created: Timestamp

    /// When it was last changed.
    var modified: Timestamp

    /// The fingerprint of the index key that the tags were made with.
    var indexKey: [UInt8]

    /// The ways to the master key; those that are damaged are left out.
    var slots: [KeySlot]

    /// The highest number of a slot in the file, also of one that is damaged.
    var highestSlot: Int64 = 0

    /// Whether there is a password that opens the collection.
    var hasPassword: Bool {
        slots.contains { slot in slot.kind == KeySlot.Kind.password.rawValue }
    }

    /// A number that no slot has.
    var unusedSlot: Int64 {
        max(highestSlot, slots.map(\.id).max() ?? 0) &+ 1
    }

    /// The master key, in locked memory, out of the first slot that a password opens; nil when it opens none.
    func master(password: borrowing SecureBytes) throws(VaultError) -> SecureBytes? {
        let opened = try open { (slot) throws(VaultError) in
            try PasswordSlot.open(slot, password: password, collection: identifier)
        }
        guard let opened = consume opened else { return nil }
        return opened.master
    }

    /// Opens the first slot that a text opens, be it a password or a recovery key; nil when it opens none.
    ///
    /// Throws `mistypedRecoveryKey` when it opens none and reads like a recovery key with a mistake in it.
    func open(with text: borrowing SecureBytes) throws(VaultError) -> OpenedSlot? {
        let opened = try open { (slot) throws(VaultError) in
            try PasswordSlot.open(slot, password: text, collection: identifier)
        }
        if let opened = consume opened { return opened }
        guard slots.contains(where: { slot in slot.kind == KeySlot.Kind.recoveryKey.rawValue }),
            let key = try RecoveryKey.read(text)
        else { return nil }
        return try open { (slot) throws(VaultError) in
            try RecoverySlot.open(slot, with: key, collection: identifier)
        }
    }

    /// Tries one slot after the other: one that cannot be read does not keep the others from being tried.
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
