import KeychaindGcrypt

/// The private key of protected items, from a verified passcode.
///
/// In locked memory, wiped with the last reference. Release it once the item keys are unwrapped.
package final class PasscodeKey: Sendable {
    // Never nil; optional so that it can be borrowed as an optional.
    let pair: X25519?

    /// The identifier of `login`.
    let login: [UInt8]

    init(master: borrowing SecureBytes, login: [UInt8]) throws(VaultError) {
        do throws(GcryptError) {
            pair = try X25519(privateKey: KeyPurpose.passcode.derive(from: master, collection: login))
        } catch {
            throw VaultError(error)
        }
        self.login = login
    }
}
