import Gcrypt

/// A key slot that a password opens.
///
/// Its parameters are 28 bytes: memory in KiB (4), iterations (4), lanes (4), salt (16).
enum PasswordSlot {
    private static let saltSize = 16

    /// Wraps a master key under a password.
    static func seal(
        _ master: borrowing SecureBytes,
        password: borrowing SecureBytes,
        derivation: Argon2id,
        slot id: Int64,
        collection: [UInt8]
    ) throws(VaultError) -> KeySlot {
        do throws(GcryptError) {
            let salt = try RandomBytes.nonce(saltSize)
            var parameters: [UInt8] = []
            for cost in [derivation.memoryKiB, derivation.iterations, derivation.lanes] {
                parameters.append(bigEndian: UInt32(clamping: cost))
            }
            parameters += salt
            var slot = KeySlot(id: id, kind: KeySlot.Kind.password.rawValue, parameters: parameters, wrapped: [])
            let key = try SealingKey(derivation.derive(password: password, salt: salt, count: KeyPurpose.keySize))
            slot.wrapped = try master.withUnsafeBytes { (master) throws(GcryptError) in
                try slot.place(in: collection).withBytes { (place) throws(GcryptError) in
                    try key.seal(master, associatedData: place)
                }
            }
            return slot
        } catch {
            throw VaultError(error)
        }
    }

    /// Opens a slot: the master key, in locked memory, or nil when the password is another.
    static func open(
        _ slot: KeySlot,
        password: borrowing SecureBytes,
        collection: [UInt8]
    ) throws(VaultError) -> SecureBytes? {
        guard slot.kind == KeySlot.Kind.password.rawValue else { return nil }
        let (derivation, salt) = try parameters(of: slot)
        do throws(GcryptError) {
            let key = try SealingKey(derivation.derive(password: password, salt: salt, count: KeyPurpose.keySize))
            var master = try SecureBytes(count: KeyPurpose.keySize, in: .locked)
            _ = try master.withUnsafeMutableBytes { (master) throws(GcryptError) in
                try slot.wrapped.withRawBytes { (wrapped) throws(GcryptError) in
                    try slot.place(in: collection).withBytes { (place) throws(GcryptError) in
                        try key.open(wrapped, associatedData: place, into: master)
                    }
                }
            }
            return master
        } catch {
            if error.code == .authenticationFailed { return nil }
            throw VaultError(error)
        }
    }

    private static func parameters(of slot: KeySlot) throws(VaultError) -> (Argon2id, salt: [UInt8]) {
        let parsed: (Argon2id, [UInt8])? = slot.parameters.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let memory = reader.integer(UInt32.self), let iterations = reader.integer(UInt32.self),
                let lanes = reader.integer(UInt32.self), reader.remaining.count == saltSize
            else { return nil }
            let derivation = Argon2id(memoryKiB: Int(memory), iterations: Int(iterations), lanes: Int(lanes))
            return (derivation, Array(reader.remaining))
        }
        guard let parsed else {
            throw VaultError(.unreadable, reason: "key slot \(slot.id) has parameters of an unknown form")
        }
        return parsed
    }
}
