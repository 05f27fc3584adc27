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

/// The domain of errors whose code is an ``OSStatus``.
let NSOSStatusErrorDomain = "NSOSStatusErrorDomain"

extension StatusError {
    /// The one place where what the client library has found becomes one of Apple's codes.
    init(_ error: SecretServiceError) {
        let status: OSStatus =
            switch error.code {
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
        self.init(status, error.reason)
    }
}
