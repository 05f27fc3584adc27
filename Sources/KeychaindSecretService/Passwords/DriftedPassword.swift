import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt

/// The password of a login that did not open `login`: it was mistyped, or the account has a new password.
///
/// Kept in locked memory until ``lifetime`` ends or a person has been asked, once, for the keychain's password and the
/// account's.
@BusActor
final class DriftedPassword: PasswordVerifier {
    /// Afterwards a person is asked as if there had been no login.
    static let lifetime = Duration.seconds(60 * 60)

    private var password: SecureBytes?
    private var expiry: Timer?

    var isThere: Bool { password != nil }

    /// Keeps a password in place of any other.
    func keep(_ password: borrowing SecureBytes) {
        forget()
        self.password = try? password.copy(in: .locked)
        expiry = BusActor.loop.schedule(after: DriftedPassword.lifetime) { [weak self] in self?.forget() }
    }

    var isSet: Bool { isThere }

    /// Whether a person typed the same password.
    func verify(_ typed: consuming SecureBytes) async -> PasswordResult {
        password?.isEqual(to: typed) == true ? .right : .wrong(.otherThanLogin)
    }

    func forget() {
        password = nil
        expiry.map(BusActor.loop.cancel)
        expiry = nil
    }
}
