import KeychaindGcrypt

/// A key slot that the unlocked `login` opens, so that a collection can open together with it.
///
/// Parameters: identifier of `login` (16), salt (16), note. The key is derived from the secrets key of `login`, which
/// is in memory while that is unlocked. Nothing of the slot is kept in `login`.
enum LoginSlot {
    static let sizeBeforeNote = CollectionFormat.identifierSize + saltSize

    private static let saltSize = 16

    static func seal(
        _ master: borrowing SecureBytes,
        under login: LoginKey,
        note: KeySlotNote,
        slot id: Int64,
        collection: [UInt8]
    ) throws(VaultError) -> StoredSlot {
        try cipher { () throws(GcryptError) in
            let salt = try RandomBytes.nonce(saltSize)
            var slot = StoredSlot(
                id: id,
                kind: StoredSlot.Kind.login.rawValue,
                parameters: login.identifier + salt + note.encoded,
                wrapped: []
            )
            slot.wrapped = try slot.wrap(master, under: login.secrets.keySlotKey(salt: salt), in: collection)
            return slot
        }
    }

    /// Opens a slot; nil if it is for another `login`, or damaged.
    static func open(
        _ slot: StoredSlot,
        with login: LoginKey,
        collection: [UInt8]
    ) throws(VaultError) -> SecureBytes? {
        guard isSlot(slot, for: login.identifier), slot.note != nil else { return nil }
        let salt = Array(slot.parameters[CollectionFormat.identifierSize..<sizeBeforeNote])
        do throws(GcryptError) {
            return try slot.unwrap(under: login.secrets.keySlotKey(salt: salt), in: collection)
        } catch {
            if error.code == .authenticationFailed || error.code == .invalidParameters { return nil }
            throw VaultError(error)
        }
    }

    static func isSlot(_ slot: StoredSlot, for login: [UInt8]) -> Bool {
        slot.kind == StoredSlot.Kind.login.rawValue && slot.parameters.starts(with: login)
    }
}

/// What opens the key slots for `login`, while that is unlocked.
struct LoginKey: Sendable {
    let identifier: [UInt8]
    let secrets: SecretsKey
}
