/// The failure of an authentication: Apple's errors, one for one.
///
/// Equality compares the codes only. The reason is for logs and the audit, and holds no secret.
package struct AuthenticationError: Error, Hashable {
    /// The kind of failure.
    package let code: Code

    /// The reason in words.
    package let reason: String

    /// A cause that the audit tells apart.
    package enum Cause: Hashable, Sendable {
        /// A touch is needed, and the prompter is trusted with passwords only.
        case prompterNotTrusted
    }

    /// The cause, if the audit tells it apart.
    package let cause: Cause?

    /// Creates an error.
    package init(_ code: Code, reason: String, cause: Cause? = nil) {
        self.code = code
        self.reason = reason
        self.cause = cause
    }

    /// Compares the codes only.
    package static func == (left: AuthenticationError, right: AuthenticationError) -> Bool {
        left.code == right.code
    }

    /// Hashes the code only, as equality compares it.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(code)
    }
}

extension AuthenticationError: CustomStringConvertible {
    /// The code and the reason.
    package var description: String { "\(code): \(reason)" }
}

extension AuthenticationError {
    /// The kinds of failure, with the names and numbers of Apple's LAError.
    package enum Code: Int32, Hashable, Sendable, CaseIterable {
        /// The wrong finger or password was given.
        case authenticationFailed = -1

        /// The person has cancelled.
        case userCancel = -2

        /// The person has chosen the program's own fallback.
        case userFallback = -3

        /// The system has cancelled: the session was locked, the prompter has crashed, or time has run out.
        case systemCancel = -4

        /// There is no passcode.
        case passcodeNotSet = -5

        /// There is no reader, or no service for it.
        case biometryNotAvailable = -6

        /// No finger is enrolled.
        case biometryNotEnrolled = -7

        /// Too many touches did not match; biometry is locked until the passcode is given.
        case biometryLockout = -8

        /// The program has cancelled.
        case appCancel = -9

        /// The context was invalidated, or does not exist.
        case invalidContext = -10

        /// The reader is not paired; no reader known here is ever paired.
        case biometryNotPaired = -12

        /// The reader was unplugged.
        case biometryDisconnected = -13

        /// A person would have to be asked, and cannot or must not be.
        case notInteractive = -1004

        /// Apple's name.
        package var name: String { "\(self)" }
    }
}

extension AuthenticationError {
    /// The failure of an evaluation whose prompter has failed.
    init(_ error: PromptError) {
        let code: Code =
            switch error.code {
            case .unavailable: .notInteractive
            case .crashed, .timedOut, .interrupted, .failed, .tooMany, .notTrusted: .systemCancel
            }
        self.init(code, reason: error.reason)
    }

    /// The failure of an evaluation whose conversation was cancelled.
    package init(_ cancellation: Cancellation) {
        switch cancellation {
        case .byProgram: self.init(.appCancel, reason: "the program has cancelled")
        case .bySystem(let reason): self.init(.systemCancel, reason: reason)
        }
    }
}
