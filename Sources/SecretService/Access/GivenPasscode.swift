import DBus
import Gcrypt

/// The passcode, as a person has just given it to unlock `login`: it need not be asked for again in the same prompt.
@BusActor
final class GivenPasscode {
    private var password: SecureBytes?

    /// Whether there is one.
    var isThere: Bool { password != nil }

    /// Keeps a copy, in locked memory, until this goes away; without room for it the person is asked again.
    func keep(_ password: borrowing SecureBytes) {
        self.password = try? password.copy(in: .locked)
    }

    /// Forgets it, as it was wrong.
    func forget() {
        password = nil
    }

    /// A copy of it; nil if there is none.
    func copy() -> SecureBytes? {
        try? password?.copy(in: .locked)
    }
}
