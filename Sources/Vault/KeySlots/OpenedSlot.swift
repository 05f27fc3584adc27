import Gcrypt

/// An opened key slot with its master key, in locked memory.
struct OpenedSlot: ~Copyable, Sendable {
    let slot: KeySlot

    let master: SecureBytes
}
