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

    /// The most trials that were under way at once.
    private(set) var mostAtOnce = 0

    private let password: String
    private var held: [CheckedContinuation<Void, Never>] = []
    private var underWay = 0

    nonisolated init(_ password: String) {
        self.password = password
    }

    func verify(_ typed: consuming SecureBytes) async -> PasswordResult {
        let text = typed.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        underWay += 1
        mostAtOnce = max(mostAtOnce, underWay)
        await withCheckedContinuation { continuation in
            held.append(continuation)
            trials.record(text)
            if !isHeld { finish() }
        }
        underWay -= 1
        return result ?? (text == password ? .right : .wrong())
    }

    /// Ends all trials that are held.
    func finish() {
        for trial in held { trial.resume() }
        held = []
    }
}
