import Foundation
import KeychaindGcrypt
import SecretServiceClient

/// A failed operation with its result code.
struct StatusError: Error {
    let status: OSStatus
    /// The reason, for developers; never contains a secret.
    let reason: String

    init(_ status: OSStatus, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    /// The error as an object for programs.
    var error: NSError {
        // The second is the key that Apple's library uses.
        let information = [NSLocalizedDescriptionKey: reason, "NSDescription": reason]
        return NSError(domain: NSOSStatusErrorDomain, code: Int(status), userInfo: information)
    }
}

extension StatusError {
    /// Translates an error of the client library; the only mapping to Apple's codes.
    init(_ error: SecretServiceError) {
        let status = error.keyStatus ?? error.authenticationStatus ?? StatusError.status(of: error.code)
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
    /// The result code of a failed authentication; nil for other failures.
    fileprivate var authenticationStatus: OSStatus? {
        guard let name = authenticationErrorName else { return nil }
        switch name {
        case "UserCancel", "UserFallback", "SystemCancel", "AppCancel": return errSecUserCanceled
        case "NotInteractive": return errSecInteractionNotAllowed
        case "PasscodeNotSet": return errSecNotAvailable
        case "MissingEntitlement": return errSecMissingEntitlement
        default: return errSecAuthFailed
        }
    }
}

extension StatusError {
    /// Reports a failed cryptographic operation.
    init(_ error: GcryptError) {
        let isOutOfMemory = error.code == .outOfMemory || error.code == .outOfLockedMemory
        self.init(isOutOfMemory ? errSecAllocate : errSecInternalError, error.reason)
    }

    /// Runs a cryptographic operation, and translates its error.
    static func translating<Result: ~Copyable>(
        _ operation: () throws(GcryptError) -> Result
    ) throws(StatusError) -> Result {
        do throws(GcryptError) {
            return try operation()
        } catch {
            throw StatusError(error)
        }
    }
}

/// Runs an operation; returns ``errSecSuccess`` or the code of its error.
func status(of operation: () throws(StatusError) -> Void) -> OSStatus {
    do throws(StatusError) {
        try operation()
        return errSecSuccess
    } catch {
        return error.status
    }
}

/// Runs an operation; returns its result, or nil with the error in the argument.
func reporting<Result>(
    to error: UnsafeMutablePointer<Unmanaged<CFError>?>?,
    _ operation: () throws(StatusError) -> Result
) -> Result? {
    do throws(StatusError) {
        return try operation()
    } catch let failure {
        error?.pointee = .passRetained(failure.error)
        return nil
    }
}

/// Runs asynchronous operations for functions that are not `async`.
enum BlockingCall {
    /// Runs an operation with the client of the process, and blocks until its end.
    static func run<Value: Sendable>(
        _ operation: @escaping @Sendable (SecretClient) async throws(SecretServiceError) -> Value
    ) throws(StatusError) -> Value {
        do throws(SecretServiceError) {
            return try SharedClient.shared.wait(for: operation)
        } catch {
            throw StatusError(error)
        }
    }
}
