import KeychaindGcrypt

/// A key slot that the passcode opens: the private half of the collection's own ``PasscodeKey``, wrapped to that of
/// `login`.
///
/// Made by earlier versions when a collection was unlocked beside `login`. This version makes none: whoever unlocks the
/// collection must not choose whose password is the passcode. Parameters: public key of `login` (32), public key of
/// this slot (32). It opens protected items of an unlocked collection, and nothing else.
enum PasscodeSlot {
    private static let purpose = Array("keychaind 1 passcode slot".utf8)

    static func isSlot(_ slot: KeySlot, for login: [UInt8]) -> Bool {
        slot.kind == KeySlot.Kind.passcode.rawValue && slot.parameters.count == login.count * 2
            && slot.parameters.starts(with: login)
    }

    /// Opens a slot and returns the collection's key pair; nil when it is for another owner or damaged.
    static func open(
        _ slot: KeySlot,
        with login: borrowing X25519?,
        collection: [UInt8]
    ) throws(VaultError) -> X25519? {
        guard slot.parameters.count == 2 * X25519.size else { return nil }
        do throws(GcryptError) {
            let publicKey = Array(slot.parameters.dropFirst(X25519.size))
            switch login {
            case .none: return nil
            case .some(let login):
                let key = try KeyEncapsulation.key(from: publicKey, of: login, purpose: purpose)
                return try X25519(privateKey: slot.unwrap(under: key, in: collection))
            }
        } catch {
            if error.code == .authenticationFailed || error.code == .invalidPublicKey { return nil }
            throw VaultError(error)
        }
    }
}
