import KeychaindGcrypt

/// A key slot that a ``RecoveryKey`` opens; that key is long and random, so its derivation need not be slow.
///
/// Parameters: salt (16), note.
enum RecoverySlot {
    static let saltSize = 16

    private static let purpose = Array("keychaind 1 recovery".utf8)

    static func seal(
        _ master: borrowing SecureBytes,
        under key: borrowing RecoveryKey,
        note: KeySlotNote,
        slot id: Int64,
        collection: [UInt8]
    ) throws(VaultError) -> KeySlot {
        try cipher { () throws(GcryptError) in
            let salt = try RandomBytes.nonce(saltSize)
            var slot = KeySlot(
                id: id,
                kind: KeySlot.Kind.recoveryKey.rawValue,
                parameters: salt + note.encoded,
                wrapped: []
            )
            slot.wrapped = try slot.wrap(master, under: derive(key, salt: salt), in: collection)
            return slot
        }
    }

    /// Returns the master key, in locked memory; nil when the recovery key is wrong.
    static func open(
        _ slot: KeySlot,
        with key: borrowing RecoveryKey,
        collection: [UInt8]
    ) throws(VaultError) -> SecureBytes? {
        guard slot.kind == KeySlot.Kind.recoveryKey.rawValue else { return nil }
        guard slot.note != nil else {
            throw VaultError(.unreadable, reason: "key slot \(slot.id) has invalid parameters")
        }
        do throws(GcryptError) {
            return try slot.unwrap(
                under: derive(key, salt: Array(slot.parameters.prefix(saltSize))),
                in: collection
            )
        } catch {
            if error.code == .authenticationFailed { return nil }
            throw VaultError(error)
        }
    }

    private static func derive(_ key: borrowing RecoveryKey, salt: [UInt8]) throws(GcryptError) -> SecureBytes {
        try HKDFSHA256.derive(
            from: key.canonical,
            salt: salt,
            info: purpose,
            count: KeyPurpose.keySize,
            in: .locked
        )
    }
}
