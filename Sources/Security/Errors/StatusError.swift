import Foundation
import SecretServiceClient

/// A status that an operation ends with, other than success.
struct StatusError: Error {
    let status: OSStatus
    /// For a person who looks for the cause; never holds a secret.
    let reason: String

    init(_ status: OSStatus, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    /// The same as an object, as Apple's functions hand it out.
    var error: NSError {
        NSError(domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: reason])
    }
}

extension StatusError {
    /// The one place where what the client library has found becomes one of Apple's codes.
    init(_ error: SecretServiceError) {
        let status = error.authenticationStatus ?? StatusError.status(of: error.code)
        self.init(status, error.reason)
    }

    private static func status(of code: SecretServiceError.Code) -> OSStatus {
        switch code {
        case .busUnavailable, .providerUnavailable, .providerGone, .disconnected, .timedOut, .forked:
            errSecNotAvailable
        case .dismissed, .cancelled: errSecUserCanceled
        case .interactionNotAllowed, .locked: errSecInteractionNotAllowed
        case .accessDenied: errSecAuthFailed
        case .noSuchObject: errSecItemNotFound
        case .alreadyExists: errSecDuplicateItem
        case .invalidArguments: errSecParam
        case .limitExceeded: errSecDataTooLarge
        case .notSupported: errSecUnimplemented
        case .cryptographyFailed: errSecDecode
        default: errSecInternalError
        }
    }
}

extension SecretServiceError {
    /// What an authentication ended with; nil if that was not what has failed.
    fileprivate var authenticationStatus: OSStatus? {
        guard let name = authenticationErrorName else { return nil }
        switch name {
        case "UserCancel", "UserFallback", "SystemCancel", "AppCancel": return errSecUserCanceled
        case "NotInteractive": return errSecInteractionNotAllowed
        case "PasscodeNotSet": return errSecNotAvailable
        default: return errSecAuthFailed
        }
    }
}
