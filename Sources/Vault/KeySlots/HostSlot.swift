import Gcrypt

/// A key slot that the machine opens: its parameters are the length (4) of what the machine has sealed, that, and a note.
///
/// The machine seals a key that is this slot's alone, under which the master key is wrapped.
enum HostSlot {
    /// The longest that a machine's sealed key may be, in bytes.
    static let maximumSealedSize = 4096

    private static let lengthSize = 4

    /// Wraps a master key under a new key that the machine seals; blocks for as long as that takes.
    static func seal(
        _ master: borrowing SecureBytes,
        by sealer: any HostSealer,
        note: KeySlotNote,
        slot id: Int64,
        collection: [UInt8]
    ) throws(VaultError) -> KeySlot {
        let key = try cipher { () throws(GcryptError) in
            try SecureBytes.random(count: KeyPurpose.keySize, in: .locked)
        }
        let sealed = try sealer.seal(key)
        guard !sealed.isEmpty, sealed.count <= maximumSealedSize else {
            throw VaultError(.hostNotAvailable, reason: "the machine seals a key in \(sealed.count) bytes")
        }
        var parameters: [UInt8] = []
        parameters.append(bigEndian: UInt32(sealed.count))
        parameters += sealed + note.encoded
        var slot = KeySlot(id: id, kind: KeySlot.Kind.host.rawValue, parameters: parameters, wrapped: [])
        do throws(GcryptError) {
            slot.wrapped = try slot.wrap(master, under: key, in: collection)
        } catch {
            throw VaultError(error)
        }
        return slot
    }

    /// Opens a slot: the master key, in locked memory, or nil when what the machine gave does not open it.
    static func open(
        _ slot: KeySlot,
        by sealer: any HostSealer,
        collection: [UInt8]
    ) throws(VaultError) -> SecureBytes? {
        guard slot.kind == KeySlot.Kind.host.rawValue else { return nil }
        guard let end = sizeBeforeNote(in: slot.parameters), slot.note != nil else {
            throw VaultError(.unreadable, reason: "key slot \(slot.id) has parameters of an unknown form")
        }
        let key = try sealer.unseal(Array(slot.parameters[lengthSize..<end]))
        do throws(GcryptError) {
            return try slot.unwrap(under: key, in: collection)
        } catch {
            if error.code == .authenticationFailed || error.code == .invalidParameters { return nil }
            throw VaultError(error)
        }
    }

    /// How many bytes of a slot's parameters come before its note; nil when they are too few.
    static func sizeBeforeNote(in parameters: [UInt8]) -> Int? {
        guard parameters.count > lengthSize else { return nil }
        let length = parameters.prefix(lengthSize).reduce(UInt32(0)) { value, byte in value << 8 | UInt32(byte) }
        guard length > 0, length <= maximumSealedSize, parameters.count >= lengthSize + Int(length) else { return nil }
        return lengthSize + Int(length)
    }
}
