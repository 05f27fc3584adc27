import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindTestSupport

@BusActor
final class FakePassword: PasswordVerifier {
    var isSet = true
    /// Nil to count as passcodes of `login`.
    var lockout: LockoutKeeper?
    /// The result of all trials; nil to compare the password.
    var result: PasswordResult?
    /// Whether a trial waits for ``finish()``.
    var isHeld = false
    /// The passwords, recorded when their trials began.
    let trials = Recorder<String>()

    private let password: String
    private var held: CheckedContinuation<Void, Never>?

    nonisolated init(_ password: String) {
        self.password = password
    }

    func verify(_ typed: consuming SecureBytes) async -> PasswordResult {
        let text = typed.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        await withCheckedContinuation { continuation in
            held = continuation
            trials.record(text)
            if !isHeld { finish() }
        }
        return result ?? (text == password ? .right : .wrong())
    }

    func finish() {
        held?.resume()
        held = nil
    }
}
