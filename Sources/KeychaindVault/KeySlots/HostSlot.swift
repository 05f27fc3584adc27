package import KeychaindGcrypt

/// A key slot that this machine opens; the machine seals a random key, which wraps the master key.
///
/// Parameters: length (4) and bytes of the sealed key, note.
enum HostSlot {
    static let maximumSealedSize = 4096

    private static let lengthSize = 4

    static func seal(
        _ master: borrowing SecureBytes,
        by sealer: any HostSealer,
        note: KeySlotNote,
        slot id: Int64,
        collection: [UInt8]
    ) throws(VaultError) -> StoredSlot {
        let key = try cipher { () throws(GcryptError) in
            try SecureBytes.random(count: KeyPurpose.keySize, in: .locked)
        }
        let sealed = try sealer.seal(key)
        guard !sealed.isEmpty, sealed.count <= maximumSealedSize else {
            throw VaultError(.hostNotAvailable, reason: "the sealed key has an invalid size: \(sealed.count) bytes")
        }
        var parameters: [UInt8] = []
        parameters.append(bigEndian: UInt32(sealed.count))
        parameters += sealed + note.encoded
        var slot = StoredSlot(id: id, kind: StoredSlot.Kind.host.rawValue, parameters: parameters, wrapped: [])
        slot.wrapped = try cipher { () throws(GcryptError) in try slot.wrap(master, under: key, in: collection) }
        return slot
    }

    /// Opens a slot; nil when the unsealed key does not match.
    static func open(
        _ slot: StoredSlot,
        by sealer: any HostSealer,
        collection: [UInt8]
    ) throws(VaultError) -> SecureBytes? {
        guard slot.kind == StoredSlot.Kind.host.rawValue else { return nil }
        guard let end = sizeBeforeNote(in: slot.parameters), slot.note != nil else {
            throw VaultError(.unreadable, reason: "key slot \(slot.id) has invalid parameters")
        }
        let key = try sealer.unseal(Array(slot.parameters[lengthSize..<end]))
        do throws(GcryptError) {
            return try slot.unwrap(under: key, in: collection)
        } catch {
            if error.code == .authenticationFailed || error.code == .invalidParameters { return nil }
            throw VaultError(error)
        }
    }

    static func sizeBeforeNote(in parameters: [UInt8]) -> Int? {
        guard parameters.count > lengthSize else { return nil }
        let length = parameters.prefix(lengthSize).reduce(UInt32(0)) { value, byte in value << 8 | UInt32(byte) }
        guard length > 0, length <= maximumSealedSize, parameters.count >= lengthSize + Int(length) else { return nil }
        return lengthSize + Int(length)
    }
}

/// A sealer that binds keys to this machine, such as a TPM.
///
/// All methods except ``check()`` block and are called on a thread of the vault.
package protocol HostSealer: Sendable {
    /// Throws `hostNotAvailable` if it is already known that there is no sealer; never waits.
    func check() throws(VaultError)

    /// Seals a key of 32 bytes; throws `hostNotAvailable` with a reason for a person.
    func seal(_ key: borrowing SecureBytes) throws(VaultError) -> [UInt8]

    /// Unseals a key into locked memory; throws `hostNotAvailable` without a sealer, or with another or a reset one.
    func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes
}

package struct NoHost: HostSealer {
    private let reason: String

    package init(reason: String = "there is no TPM") {
        self.reason = reason
    }

    package func check() throws(VaultError) {
        throw VaultError(.hostNotAvailable, reason: reason)
    }

    package func seal(_ key: borrowing SecureBytes) throws(VaultError) -> [UInt8] {
        throw VaultError(.hostNotAvailable, reason: reason)
    }

    package func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes {
        throw VaultError(.hostNotAvailable, reason: reason)
    }
}
