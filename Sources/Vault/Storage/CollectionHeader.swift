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

    /// Whether there is a password that opens the collection.
    var hasPassword: Bool {
        slots.contains { slot in slot.kind == KeySlot.Kind.password.rawValue }
    }

    /// A number that no slot has.
    var unusedSlot: Int64 {
        (slots.map(\.id).max() ?? 0) &+ 1
    }

    /// The master key, in locked memory, out of the first slot that a password opens; nil when it opens none.
    func master(password: borrowing SecureBytes) throws(VaultError) -> SecureBytes? {
        for slot in slots {
            if let master = try PasswordSlot.open(slot, password: password, collection: identifier) { return master }
        }
        return nil
    }
}
