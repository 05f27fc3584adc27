/// Why an authentication has come to nothing: Apple's errors, one for one.
///
/// Two errors are equal if their codes are; the reason is for logs and the audit, and holds no secret.
package struct AuthenticationError: Error, Hashable {
    /// What kind of end it was.
    package let code: Code

    /// The end in words.
    package let reason: String

    /// What has led to it, where the code does not say enough for the audit.
    package enum Cause: Hashable, Sendable {
        /// A touch was needed, and the prompter is trusted with passwords only.
        case prompterNotTrusted
    }

    /// What has led to it, if that is one of the causes that have a name.
    package let cause: Cause?

    /// Creates an error of a kind, with a reason in words.
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
    /// A kind of end, open to new ones; numbers and names are those of Apple's LAError.
    package struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
        private enum Kind: Int32, CaseIterable {
            case authenticationFailed = -1
            case userCancel = -2
            case userFallback = -3
            case systemCancel = -4
            case passcodeNotSet = -5
            case biometryNotAvailable = -6
            case biometryNotEnrolled = -7
            case biometryLockout = -8
            case appCancel = -9
            case invalidContext = -10
            case biometryNotPaired = -12
            case biometryDisconnected = -13
            case notInteractive = -1004
        }

        private let kind: Kind

        /// What was given was wrong: another finger, another passcode.
        package static let authenticationFailed = Code(kind: .authenticationFailed)

        /// The person has cancelled.
        package static let userCancel = Code(kind: .userCancel)

        /// The person has chosen the fallback, and there is none but the program's own.
        package static let userFallback = Code(kind: .userFallback)

        /// Something else has ended it: the session was locked, the prompter crashed, time ran out.
        package static let systemCancel = Code(kind: .systemCancel)

        /// There is no passcode.
        package static let passcodeNotSet = Code(kind: .passcodeNotSet)

        /// There is no reader, or no service for it.
        package static let biometryNotAvailable = Code(kind: .biometryNotAvailable)

        /// No finger is enrolled.
        package static let biometryNotEnrolled = Code(kind: .biometryNotEnrolled)

        /// Too many touches did not match; the passcode has to be given first.
        package static let biometryLockout = Code(kind: .biometryLockout)

        /// The program that asked has withdrawn.
        package static let appCancel = Code(kind: .appCancel)

        /// The context was invalidated, or never was.
        package static let invalidContext = Code(kind: .invalidContext)

        /// The reader needs pairing; none that is known here does.
        package static let biometryNotPaired = Code(kind: .biometryNotPaired)

        /// The reader went away.
        package static let biometryDisconnected = Code(kind: .biometryDisconnected)

        /// A person would have to be asked, and must not be or cannot be.
        package static let notInteractive = Code(kind: .notInteractive)

        /// All codes.
        package static let allCases = Kind.allCases.map(Code.init(kind:))

        /// Apple's number; what goes over the bus.
        package var rawValue: Int32 { kind.rawValue }

        /// Apple's name.
        package var description: String { "\(kind)" }

        /// Takes Apple's number; nil if it is none of these.
        package init?(rawValue: Int32) {
            guard let kind = Kind(rawValue: rawValue) else { return nil }
            self.kind = kind
        }

        private init(kind: Kind) {
            self.kind = kind
        }
    }
}
