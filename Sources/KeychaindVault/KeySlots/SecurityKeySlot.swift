import KeychaindGcrypt
import KeychaindModel

/// A key slot that a security key opens, with the secret of a credential.
///
/// Parameters: 1 if the secret needs the PIN, else 0 (1), salt (32), length (2) and bytes of the credential, note. The
/// wrap authenticates them all: with a changed parameter no secret opens the slot.
enum SecurityKeySlot {
    static let secretSize = 32

    private static let beforeID = 1 + SecurityKeyCredential.saltSize + 2
    private static let purpose = Array("keychaind 1 security key".utf8)

    static func seal(
        _ master: borrowing SecureBytes,
        under secret: borrowing SecureBytes,
        of credential: SecurityKeyCredential,
        note: KeySlotNote,
        slot id: Int64,
        collection: [UInt8]
    ) throws(VaultError) -> StoredSlot {
        guard secret.count == secretSize else {
            throw VaultError(.notSupported, reason: "the secret of the security key has \(secret.count) bytes")
        }
        var parameters: [UInt8] = [credential.needsPIN ? 1 : 0]
        parameters += credential.salt
        parameters += [UInt8(credential.id.count >> 8), UInt8(credential.id.count & 0xff)]
        parameters += credential.id + note.encoded
        var slot = StoredSlot(id: id, kind: StoredSlot.Kind.securityKey.rawValue, parameters: parameters, wrapped: [])
        slot.wrapped = try cipher { () throws(GcryptError) in
            try slot.wrap(master, under: derive(secret, salt: credential.salt), in: collection)
        }
        return slot
    }

    /// Opens a slot; nil when the secret does not match, or the slot is damaged.
    static func open(
        _ slot: StoredSlot,
        with secret: borrowing SecureBytes,
        collection: [UInt8]
    ) throws(VaultError) -> SecureBytes? {
        guard let credential = credential(of: slot), slot.note != nil else { return nil }
        do throws(GcryptError) {
            return try slot.unwrap(under: derive(secret, salt: credential.salt), in: collection)
        } catch {
            if error.code == .authenticationFailed || error.code == .invalidParameters { return nil }
            throw VaultError(error)
        }
    }

    /// Nil for another kind of slot and for invalid parameters.
    static func credential(of slot: StoredSlot) -> SecurityKeyCredential? {
        let parameters = slot.parameters
        guard slot.kind == StoredSlot.Kind.securityKey.rawValue, let end = sizeBeforeNote(in: parameters) else {
            return nil
        }
        return SecurityKeyCredential(
            id: Array(parameters[beforeID..<end]),
            salt: Array(parameters[1...SecurityKeyCredential.saltSize]),
            needsPIN: parameters[0] == 1
        )
    }

    static func sizeBeforeNote(in parameters: [UInt8]) -> Int? {
        guard parameters.count > beforeID, parameters[0] <= 1 else { return nil }
        let length = Int(parameters[beforeID - 2]) << 8 | Int(parameters[beforeID - 1])
        guard (1...SecurityKeyCredential.maximumIDSize).contains(length), parameters.count >= beforeID + length else {
            return nil
        }
        return beforeID + length
    }

    private static func derive(_ secret: borrowing SecureBytes, salt: [UInt8]) throws(GcryptError) -> SecureBytes {
        try HKDFSHA256.derive(from: secret, salt: salt, info: purpose, count: KeyPurpose.keySize, in: .locked)
    }
}
