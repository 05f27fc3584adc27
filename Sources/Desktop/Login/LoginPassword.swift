import DBus
import Gcrypt

/// Carries a password into a task, once: closures can only hold what can be copied.
@BusActor
final class LoginPassword {
    private var password: SecureBytes?

    init(_ password: consuming SecureBytes) {
        self.password = .some(password)
    }

    /// Takes the password out; nil the second time.
    func take() -> SecureBytes? {
        let taken = password.take()
        return taken
    }
}
