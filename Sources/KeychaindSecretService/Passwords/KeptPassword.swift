import KeychaindDBus
import KeychaindGcrypt

/// A password that a prompt needs again: the one that unlocked `login`, so that it is asked for once.
@BusActor
final class KeptPassword {
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
