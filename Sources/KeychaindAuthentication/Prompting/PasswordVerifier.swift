package import KeychaindDBus
package import KeychaindGcrypt
package import KeychaindLanguage

/// A verifier of one password: a passcode, collection, backup or application password, or a recovery key.
///
/// An implementation keeps the key that the right password yields. Callers see only the ``PasswordResult``.
@BusActor
package protocol PasswordVerifier: AnyObject {
    var isSet: Bool { get }

    /// The lockout in evaluations; nil if wrong passwords count as wrong passcodes of `login`.
    var lockout: LockoutKeeper? { get }

    /// Notes that a dialog was answered; a password may wait before it is counted and verified.
    func passwordWasGiven()

    /// Finds out what a person's password is for, before it is counted and verified.
    func prepare() async

    /// Verifies a password, and wipes it in any case.
    ///
    /// Never returns ``PasswordResult/tooEarly(_:)``, which only a lockout does.
    func verify(_ password: consuming SecureBytes) async -> PasswordResult
}

extension PasswordVerifier {
    /// Wrong passwords count as wrong passcodes of `login`.
    package var lockout: LockoutKeeper? { nil }

    package func passwordWasGiven() {}

    package func prepare() async {}
}

/// The result of trying a password.
package enum PasswordResult: Hashable, Sendable {
    /// The password is right; the verifier has its key.
    case right

    /// The password counts towards the lockout; the next one is accepted after the wait.
    case wrong(Mistake = .unknown, wait: Duration = .zero)

    /// The password was not tried: the lockout lasts that much longer.
    case tooEarly(Duration)

    /// The password was not tried, as the try cannot be recorded: otherwise the end of the process would undo it.
    case notCounted(LockoutObstacle)

    /// The password was not tried, as what it is for is already unlocked: it proves nothing, and does not count.
    case notNeeded

    /// The password could not be tried, such as for lack of memory, and does not count.
    case failed(reason: String)

    package enum Mistake: Hashable, Sendable {
        case unknown
        /// A recovery key with a wrong checksum.
        case mistypedRecoveryKey
        /// Empty, which no password is; does not count.
        case empty
        /// Not the password of the last login.
        case otherThanLogin
    }

    /// The warning of the next dialog, beside ``delay``; nil if the result ends the tries.
    package var warning: Text? {
        switch self {
        case .right, .notNeeded, .failed: nil
        case .wrong(let mistake, _): mistake.warning
        case .tooEarly: Text("Too many passwords were wrong.")
        case .notCounted(let obstacle): obstacle.warning
        }
    }
}

extension PasswordResult {
    /// The time before another password is accepted.
    package var delay: Duration {
        switch self {
        case .wrong(_, let wait), .tooEarly(let wait): wait
        case .right, .notCounted, .notNeeded, .failed: .zero
        }
    }
}

extension PasswordResult.Mistake {
    fileprivate var warning: Text {
        switch self {
        case .unknown: Text("That password was not right.")
        case .mistypedRecoveryKey: Text("That looks like a recovery key, but a character in it is wrong.")
        case .empty: Text("The password cannot be empty.")
        case .otherThanLogin: Text("You did not log in with that password.")
        }
    }
}

extension LockoutObstacle {
    /// Why a password was not tried, and what to do.
    package var warning: Text {
        switch self {
        case .diskIsFull:
            Text("The disk is full, so this try cannot be recorded and was not made. Free some space, and try again.")
        case .diskIsReadOnly:
            Text("The disk cannot be written to, so this try cannot be recorded and was not made.")
        case .diskFails: Text("The disk fails, so this try cannot be recorded and was not made.")
        }
    }
}

extension Duration {
    /// The time for a dialog, rounded up: "one second", "90 seconds", "5 minutes".
    package var words: Text {
        let seconds = wholeSeconds
        if seconds <= 90 { return Text(seconds, one: "one second", other: "\(seconds) seconds") }
        let minutes = (seconds + 59) / 60
        return Text(minutes, one: "one minute", other: "\(minutes) minutes")
    }

    /// The seconds, rounded up.
    package var wholeSeconds: Int64 {
        let (whole, rest) = components
        return whole + (rest > 0 ? 1 : 0)
    }
}
