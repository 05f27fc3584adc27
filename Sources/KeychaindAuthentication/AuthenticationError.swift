/// An authentication failure, with the codes of Apple's LAError.
///
/// Equality compares only the codes. The reason holds no secret.
package struct AuthenticationError: Error, Hashable {
    package let code: Code
    package let reason: String

    /// A cause that the audit records separately.
    package enum Cause: Hashable, Sendable {
        case prompterNotTrusted
    }

    package let cause: Cause?

    package init(_ code: Code, reason: String, cause: Cause? = nil) {
        self.code = code
        self.reason = reason
        self.cause = cause
    }

    package static func == (left: AuthenticationError, right: AuthenticationError) -> Bool {
        left.code == right.code
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(code)
    }
}

extension AuthenticationError: CustomStringConvertible {
    package var description: String { "\(code): \(reason)" }
}

extension AuthenticationError {
    /// The names and numbers of LAError.
    package enum Code: Int32, Hashable, Sendable, CaseIterable {
        case authenticationFailed = -1
        case userCancel = -2

        /// The person chose the program's own fallback.
        case userFallback = -3

        /// The session was locked, the prompter crashed, or time ran out.
        case systemCancel = -4

        case passcodeNotSet = -5
        case biometryNotAvailable = -6
        case biometryNotEnrolled = -7

        /// Biometry is locked until the passcode is given.
        case biometryLockout = -8

        case appCancel = -9
        case invalidContext = -10

        /// Never used: no reader here is paired.
        case biometryNotPaired = -12

        case biometryDisconnected = -13

        /// A person cannot or must not be asked.
        case notInteractive = -1004

        package var name: String { "\(self)" }
    }
}

extension AuthenticationError {
    package init(_ error: PromptError) {
        let code: Code =
            switch error.code {
            case .unavailable: .notInteractive
            case .crashed, .timedOut, .interrupted, .failed, .tooMany, .notTrusted: .systemCancel
            }
        self.init(code, reason: error.reason)
    }

    package init(_ cancellation: Cancellation) {
        switch cancellation {
        case .byProgram: self.init(.appCancel, reason: "the program has cancelled")
        case .bySystem(let reason): self.init(.systemCancel, reason: reason)
        }
    }
}
