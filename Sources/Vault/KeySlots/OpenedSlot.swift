import Gcrypt

/// A key slot, and the master key that was in it.
struct OpenedSlot: ~Copyable, Sendable {
    /// The slot.
    let slot: KeySlot

    /// The master key, in locked memory.
    let master: SecureBytes
}
