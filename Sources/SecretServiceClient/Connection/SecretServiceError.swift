/// A failed request to the Secret Service.
///
/// Two errors are equal if their codes are. No property ever holds a secret.
public struct SecretServiceError: Error, Equatable, Sendable {
    /// The kind of failure.
    public let code: Code

    /// The reason, for people.
    public let reason: String

    /// The D-Bus error of the provider or the bus, such as `org.freedesktop.Secret.Error.IsLocked`; nil for a failure
    /// on this side.
    public let errorName: String?

    /// Creates an error, for tests and for code that replaces a client.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - reason: the reason, without a secret.
    ///   - errorName: the D-Bus error; nil for a failure on this side.
    public init(_ code: Code, _ reason: String, errorName: String? = nil) {
        self.code = code
        self.reason = reason
        self.errorName = errorName
    }

    /// Apple's name for the result of an authentication, such as `UserCancel`; nil for other failures.
    package var authenticationErrorName: String? {
        guard let errorName, errorName.hasPrefix(SecretServiceError.authenticationPrefix) else { return nil }
        return String(errorName.dropFirst(SecretServiceError.authenticationPrefix.count))
    }

    private static let authenticationPrefix = "org.keychaind.Error."

    /// keychaind's name for the failure of a key, such as `decryptionFailed`; nil for other failures.
    package var keyErrorName: String? {
        guard let errorName, errorName.hasPrefix(SecretServiceError.keyPrefix) else { return nil }
        let name = errorName.dropFirst(SecretServiceError.keyPrefix.count)
        return name.prefix(1).lowercased() + name.dropFirst()
    }

    private static let keyPrefix = Protocol.key + ".Error."

    package static func authentication(_ name: String, _ reason: String) -> SecretServiceError {
        SecretServiceError(.accessDenied, reason, errorName: authenticationPrefix + name)
    }

    /// Compares the codes only.
    public static func == (left: SecretServiceError, right: SecretServiceError) -> Bool {
        left.code == right.code
    }
}

extension SecretServiceError: CustomStringConvertible {
    /// The code and the reason.
    public var description: String { "\(code): \(reason)" }
}

extension SecretServiceError {
    static let cancelled = SecretServiceError(.cancelled, "the task was cancelled")

    static let closed = SecretServiceError(.disconnected, "the connection to the bus is closed")

    static let dismissed = SecretServiceError(.dismissed, "the prompt was dismissed")

    static let providerGone = SecretServiceError(.providerGone, "the provider left the bus")

    static func timedOut(_ what: String) -> SecretServiceError {
        SecretServiceError(.timedOut, "\(what) timed out")
    }
}

extension SecretServiceError {
    /// A kind of failure.
    ///
    /// A structure, so that new kinds do not break the code of programs.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case busUnavailable, providerUnavailable, providerGone, disconnected, timedOut, cancelled, forked
            case dismissed, interactionNotAllowed, locked, accessDenied
            case noSuchObject, noSession, alreadyExists
            case invalidArguments, limitExceeded, notSupported
            case invalidAnswer, cryptographyFailed, providerFailed
        }

        private let kind: Kind

        /// No bus is running, or it refuses this program.
        public static let busUnavailable = Code(kind: .busUnavailable)

        /// No provider is running, and none could be started.
        public static let providerUnavailable = Code(kind: .providerUnavailable)

        /// The provider left the bus during the call; the change may or may not have been made.
        ///
        /// The next call finds its successor, if there is one.
        public static let providerGone = Code(kind: .providerGone)

        /// The bus ended, or the client was closed; a new client is needed.
        public static let disconnected = Code(kind: .disconnected)

        /// No reply arrived in time; the change may or may not have been made.
        public static let timedOut = Code(kind: .timedOut)

        /// The task was cancelled; the change may or may not have been made.
        public static let cancelled = Code(kind: .cancelled)

        /// The process is a forked child of the connected one, and cannot use its connection.
        public static let forked = Code(kind: .forked)

        /// A person refused.
        public static let dismissed = Code(kind: .dismissed)

        /// A person must be asked, but ``SecretPrompting/never`` forbids it.
        public static let interactionNotAllowed = Code(kind: .interactionNotAllowed)

        /// The item or collection is locked.
        public static let locked = Code(kind: .locked)

        /// The provider or the bus refuses this to the program.
        public static let accessDenied = Code(kind: .accessDenied)

        /// The item or collection does not exist.
        public static let noSuchObject = Code(kind: .noSuchObject)

        /// The provider closed the session twice in a row.
        public static let noSession = Code(kind: .noSession)

        /// An object like the new one exists.
        public static let alreadyExists = Code(kind: .alreadyExists)

        /// The provider or D-Bus does not accept an argument.
        public static let invalidArguments = Code(kind: .invalidArguments)

        /// An argument is larger than the provider or D-Bus allows.
        public static let limitExceeded = Code(kind: .limitExceeded)

        /// The provider does not support this.
        public static let notSupported = Code(kind: .notSupported)

        /// The reply violates the specification.
        public static let invalidAnswer = Code(kind: .invalidAnswer)

        /// A secret could not be encrypted or decrypted.
        public static let cryptographyFailed = Code(kind: .cryptographyFailed)

        /// The provider failed.
        public static let providerFailed = Code(kind: .providerFailed)

        /// The name of the code.
        public var description: String { kind.rawValue }
    }
}
