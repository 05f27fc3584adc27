import DBus
import Gcrypt

/// The passcode that unlocked `login` in this prompt, so that the prompt does not ask for it again.
@BusActor
final class GivenPasscode {
    private var password: SecureBytes?

    var isThere: Bool { password != nil }

    /// Keeps a copy in locked memory; without room for it, the person is asked again.
    func keep(_ password: borrowing SecureBytes) {
        self.password = try? password.copy(in: .locked)
    }

    func forget() {
        password = nil
    }

    func copy() -> SecureBytes? {
        try? password?.copy(in: .locked)
    }
}
