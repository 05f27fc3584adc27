import Authentication
import DBus
import Gcrypt

/// The password of a login that did not open the keychain `login`: the account has another password by now than the keychain, or
/// what was typed was no password of the account's.
///
/// It is kept in locked memory until a person was asked, once, what the keychain's is, and which one the login was with; or for so
/// long.
@BusActor
final class DriftedPassword: PasswordVerifier {
    /// After this a person who is asked for a password is asked as if there had been no login.
    static let lifetime = Duration.seconds(60 * 60)

    private var password: SecureBytes?
    private var expiry: Timer?

    /// Whether there is one.
    var isThere: Bool { password != nil }

    /// Keeps a password, in the place of any that there was.
    func keep(_ password: borrowing SecureBytes) {
        forget()
        self.password = try? password.copy(in: .locked)
        expiry = BusActor.loop.schedule(after: DriftedPassword.lifetime) { [weak self] in self?.forget() }
    }

    var isSet: Bool { isThere }

    /// Compares what a person has typed with the password.
    func verify(_ typed: consuming SecureBytes) async -> PasswordResult {
        password?.isEqual(to: typed) == true ? .right : .wrong(.otherThanLogin)
    }

    /// Wipes it.
    func forget() {
        password = nil
        expiry.map(BusActor.loop.cancel)
        expiry = nil
    }
}
