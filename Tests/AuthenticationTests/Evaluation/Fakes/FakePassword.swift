import Authentication
import DBus
import Gcrypt
import TestSupport

/// A password that a test knows.
@BusActor
final class FakePassword: PasswordVerifier {
    var isSet = true
    /// Nil to count with the passcodes of `login`.
    var lockout: LockoutKeeper?
    /// What every trial comes to, whatever was typed; nil to compare.
    var result: PasswordResult?
    /// Whether a trial waits for ``finish()``.
    var isHeld = false
    /// What was tried, when its trial began.
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

    /// Ends a trial that waits.
    func finish() {
        held?.resume()
        held = nil
    }
}
