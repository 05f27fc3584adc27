import Foundation
import SecretServiceClient

extension LAError {
    /// The debug description has the reason.
    static func object(_ code: Code, _ reason: String) -> NSError {
        NSError(
            domain: LAErrorDomain,
            code: code.rawValue,
            userInfo: [NSLocalizedDescriptionKey: code.message, "NSDebugDescription": reason]
        )
    }

    /// Translates an error; the only mapping from the client library to Apple's codes.
    ///
    /// - Parameter policy: selects the code where authentication is not available at all.
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
    static let noAuthentication = SecretServiceError(
        .notSupported,
        "the provider does not support authentication, which needs keychaind"
    )

    static let contextEnded = SecretServiceError.authentication("InvalidContext", "the context was invalidated")
}

extension LAPolicy {
    /// The error code where authentication is not available at all.
    fileprivate var absence: LAError.Code {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion:
            .biometryNotAvailable
        case .deviceOwnerAuthentication: .passcodeNotSet
        case .deviceOwnerAuthenticationWithCompanion: .companionNotAvailable
        }
    }
}

extension LAError.Code {
    fileprivate var name: String {
        if self == .companionNotAvailable { return "CompanionNotAvailable" }
        return switch self {
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

    fileprivate var message: String {
        if self == .companionNotAvailable { return "No paired device is available." }
        return switch self {
        case .authenticationFailed: "Authentication failed."
        case .userCancel: "Authentication was cancelled."
        case .userFallback: "Another way to authenticate was chosen."
        case .systemCancel: "Authentication was interrupted."
        case .passcodeNotSet: "No keychain password is set."
        case .biometryNotAvailable: "No fingerprint reader is available."
        case .biometryNotEnrolled: "No fingers are enrolled."
        case .biometryLockout: "The fingerprint reader is locked after too many failed attempts."
        case .appCancel: "The program cancelled the authentication."
        case .invalidContext: "The authentication has ended."
        case .biometryNotPaired: "The fingerprint reader is not paired."
        case .biometryDisconnected: "The fingerprint reader is disconnected."
        case .invalidDimensions: "The view has the wrong size."
        case .notInteractive: "A person cannot be asked to authenticate."
        }
    }
}
