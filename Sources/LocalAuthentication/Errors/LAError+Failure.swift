import Foundation
import SecretServiceClient

extension LAError {
    /// An error as it is handed out: an object, which tells the reason to people who look for it.
    static func object(_ code: Code, _ reason: String) -> NSError {
        NSError(
            domain: LAErrorDomain,
            code: code.rawValue,
            userInfo: [NSLocalizedDescriptionKey: code.message, "NSDebugDescription": reason]
        )
    }

    /// The one place where what the client library has found becomes one of Apple's codes.
    ///
    /// - Parameter policy: what was to be proved; where nobody can prove anything, it decides what is missing.
    static func object(_ error: SecretServiceError, _ policy: LAPolicy) -> NSError {
        object(code(of: error, policy), error.reason)
    }

    private static func code(of error: SecretServiceError, _ policy: LAPolicy) -> Code {
        if let name = error.authenticationErrorName { return Code.allCases.first { $0.name == name } ?? .systemCancel }
        switch error.code {
        case .busUnavailable, .providerUnavailable, .notSupported, .noSuchObject: return policy.absence
        case .dismissed: return .userCancel
        case .cancelled: return .appCancel
        case .interactionNotAllowed: return .notInteractive
        case .forked: return .invalidContext
        default: return .systemCancel
        }
    }
}

extension SecretServiceError {
    /// There is a provider, but none that authenticates.
    static let noAuthentication = SecretServiceError(
        .notSupported,
        "the provider does not authenticate; keychaind does"
    )

    /// The context was invalidated.
    static let contextEnded = SecretServiceError.authentication("InvalidContext", "the context was invalidated")
}

extension LAPolicy {
    /// What is missing where nobody can prove anything.
    fileprivate var absence: LAError.Code {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics: .biometryNotAvailable
        case .deviceOwnerAuthentication: .passcodeNotSet
        }
    }
}

extension LAError.Code {
    /// The name on the bus.
    fileprivate var name: String {
        switch self {
        case .authenticationFailed: "AuthenticationFailed"
        case .userCancel: "UserCancel"
        case .userFallback: "UserFallback"
        case .systemCancel: "SystemCancel"
        case .passcodeNotSet: "PasscodeNotSet"
        case .biometryNotAvailable: "BiometryNotAvailable"
        case .biometryNotEnrolled: "BiometryNotEnrolled"
        case .biometryLockout: "BiometryLockout"
        case .appCancel: "AppCancel"
        case .invalidContext: "InvalidContext"
        case .biometryNotPaired: "BiometryNotPaired"
        case .biometryDisconnected: "BiometryDisconnected"
        case .invalidDimensions: "InvalidDimensions"
        case .notInteractive: "NotInteractive"
        }
    }

    /// What people are told.
    fileprivate var message: String {
        switch self {
        case .authenticationFailed: "Authentication failed."
        case .userCancel: "Authentication was cancelled."
        case .userFallback: "Another way to authenticate was chosen."
        case .systemCancel: "Authentication was interrupted."
        case .passcodeNotSet: "There is no keychain password to authenticate with."
        case .biometryNotAvailable: "There is no fingerprint reader."
        case .biometryNotEnrolled: "No fingers are enrolled."
        case .biometryLockout: "The fingerprint reader is locked after too many failed attempts."
        case .appCancel: "The program has cancelled the authentication."
        case .invalidContext: "The authentication has ended."
        case .biometryNotPaired: "The fingerprint reader is not paired."
        case .biometryDisconnected: "The fingerprint reader is disconnected."
        case .invalidDimensions: "The view has the wrong size."
        case .notInteractive: "Nobody can be asked to authenticate."
        }
    }
}
