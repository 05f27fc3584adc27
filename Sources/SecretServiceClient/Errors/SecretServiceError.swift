/// Why something asked of the Secret Service was not done.
///
/// Two errors are equal when their codes are. The reason is for a person; neither it nor anything else here ever holds a secret.
public struct SecretServiceError: Error, Equatable, Sendable {
    /// What kind of failure it was.
    public let code: Code

    /// The failure in words.
    public let reason: String

    /// The D-Bus error that the provider or the bus answered with, such as `org.freedesktop.Secret.Error.IsLocked`; nil if the
    /// failure was found on this side.
    public let errorName: String?

    /// Says what failed, and why in words: for tests, and for code that stands in for a client.
    ///
    /// - Parameters:
    ///   - code: what kind of failure it was.
    ///   - reason: the failure in words, without a secret.
    ///   - errorName: the D-Bus error that was answered; nil if the failure was found on this side.
    public init(_ code: Code, _ reason: String, errorName: String? = nil) {
        self.code = code
        self.reason = reason
        self.errorName = errorName
    }

    /// Apple's name of what an authentication ended with, such as `UserCancel`; nil if that was not what has failed.
    package var authenticationErrorName: String? {
        guard let errorName, errorName.hasPrefix(SecretServiceError.authenticationPrefix) else { return nil }
        return String(errorName.dropFirst(SecretServiceError.authenticationPrefix.count))
    }

    private static let authenticationPrefix = "org.keychaind.Error."

    /// A failure of an authentication, by Apple's name.
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

    static let providerGone = SecretServiceError(.providerGone, "the provider has left the bus")

    static func timedOut(_ what: String) -> SecretServiceError {
        SecretServiceError(.timedOut, "\(what) took too long")
    }
}
