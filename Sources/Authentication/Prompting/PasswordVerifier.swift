package import DBus
package import Gcrypt

/// Verifies passwords: the passcode, the password or recovery key of a collection or backup, the application password
/// of an item.
///
/// An implementation keeps the key that the right password gives. Callers only see the ``PasswordResult``.
@BusActor
package protocol PasswordVerifier: AnyObject {
    /// Whether there is a password.
    var isSet: Bool { get }

    /// The lockout of this password in evaluations; nil if wrong ones count as wrong passcodes of `login`.
    var lockout: LockoutKeeper? { get }

    /// Tries a password, which is wiped in any case.
    ///
    /// Never returns ``PasswordResult/tooEarly(_:)``, which is the result of a lockout.
    func verify(_ password: consuming SecureBytes) async -> PasswordResult
}

extension PasswordVerifier {
    /// Wrong passwords count as wrong passcodes of `login`.
    package var lockout: LockoutKeeper? { nil }
}

/// The result of trying a password.
package enum PasswordResult: Hashable, Sendable {
    /// The password is right; its key is with the verifier.
    case right

    /// The password is wrong, and counts towards the lockout; the next one is tried after the wait.
    case wrong(Mistake = .unknown, wait: Duration = .zero)

    /// The password was not tried: the lockout lasts that much longer.
    case tooEarly(Duration)

    /// The password could not be tried, such as for lack of memory, and does not count; the reason is for a log.
    case failed(reason: String)

    /// What is known of a wrong password.
    package enum Mistake: Hashable, Sendable {
        /// Nothing.
        case unknown
        /// It has the form of a recovery key, but its checksum is wrong.
        case mistypedRecoveryKey
        /// It is empty, where a new password is wanted.
        case empty
        /// It is not the one of the last login.
        case otherThanLogin
    }

    /// The warning in the dialog that asks again; nil if the result ends the tries.
    package var warning: String? {
        switch self {
        case .right, .failed: nil
        case .wrong(let mistake, let wait):
            mistake.warning + (wait > .zero ? " Wait \(wait.words) before the next." : "")
        case .tooEarly(let wait): "Too many passwords were wrong. Wait \(wait.words), and try again."
        }
    }
}

extension PasswordResult.Mistake {
    fileprivate var warning: String {
        switch self {
        case .unknown: "That password was not right."
        case .mistypedRecoveryKey: "That looks like a recovery key, but a character in it is wrong."
        case .empty: "The password cannot be empty."
        case .otherThanLogin: "You did not log in with that password."
        }
    }
}

extension Duration {
    /// The time in words for a dialog, rounded up: "one second", "90 seconds", "5 minutes".
    package var words: String {
        let seconds = wholeSeconds
        if seconds <= 90 { return seconds == 1 ? "one second" : "\(seconds) seconds" }
        return "\((seconds + 59) / 60) minutes"
    }

    /// The time in seconds, rounded up.
    package var wholeSeconds: Int64 {
        let (whole, rest) = components
        return whole + (rest > 0 ? 1 : 0)
    }
}
