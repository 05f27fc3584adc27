package import KeychaindAuthentication
package import KeychaindDBus
import KeychaindGcrypt
import KeychaindVault

extension BusError {
    /// Converts an error of the vault.
    init(_ error: VaultError) {
        let name: ErrorName =
            switch error.code {
            case .locked, .unreadable, .authenticationNeeded: .isLocked
            case .invalidAccessControl, .applicationPasswordNeeded: .invalidArguments
            case .passcodeNotSet: ErrorName(AuthenticationError.Code.passcodeNotSet)
            case .noSuchItem, .noSuchCollection, .noSuchKeySlot: .noSuchObject
            case .limitExceeded: .limitsExceeded
            case .notSupported, .lastKeySlot, .hostNotAvailable: .notSupported
            case .storageFull, .readOnly, .storageFailed, .displaced: .inputOutput
            case .wrongPassword, .emptyPassword, .wrongApplicationPassword, .mistypedRecoveryKey: .accessDenied
            case .inUse, .unsupportedFormat, .busy, .cryptographyFailed: .failed
            }
        self.init(name, error.reason)
    }
}

extension BusError {
    /// Converts an error of cryptography, caused by the caller's input or by a failure.
    init(_ error: GcryptError) {
        switch error.code {
        case .invalidPublicKey, .invalidCiphertext:
            self.init(.invalidArguments, error.reason)
        case .initializationFailed, .outOfMemory, .outOfLockedMemory, .randomnessUnavailable, .invalidParameters,
            .authenticationFailed, .operationFailed:
            self.init(.failed, "cryptography failed: \(error.code)")
        }
    }
}

/// Runs an operation of the vault, and converts its errors.
func translatingErrors<Result: ~Copyable>(
    _ body: () throws(VaultError) -> Result
) throws(BusError) -> Result {
    do throws(VaultError) {
        return try body()
    } catch {
        throw BusError(error)
    }
}

/// Runs an asynchronous operation of the vault, and converts its errors.
@BusActor
func translatingErrors<Result: ~Copyable>(
    _ body: () async throws(VaultError) -> Result
) async throws(BusError) -> Result {
    do throws(VaultError) {
        return try await body()
    } catch {
        throw BusError(error)
    }
}

extension ErrorName {
    /// The name of an authentication error: Apple's code under keychaind's prefix.
    package init(_ code: AuthenticationError.Code) {
        let name = code.name
        self.init(rawValue: "org.keychaind.Error." + name.prefix(1).uppercased() + name.dropFirst())
    }
}

extension BusError {
    /// Converts an error of authentication.
    init(_ error: AuthenticationError) {
        self.init(ErrorName(error.code), error.reason)
    }
}

extension ErrorName {
    /// The object must be unlocked first (#40).
    package static let isLocked = ErrorName(rawValue: "org.freedesktop.Secret.Error.IsLocked")

    /// The session does not exist or belongs to another client (#41).
    package static let noSession = ErrorName(rawValue: "org.freedesktop.Secret.Error.NoSession")

    /// No such collection or item (#42).
    package static let noSuchObject = ErrorName(rawValue: "org.freedesktop.Secret.Error.NoSuchObject")

    /// The object exists already, or the prompt has already been run (#43).
    package static let alreadyExists = ErrorName(rawValue: "org.freedesktop.Secret.Error.AlreadyExists")

    /// The password is wrong; gnome-keyring's name of the error.
    package static let keyringDenied = ErrorName(rawValue: "org.gnome.keyring.Error.Denied")
}
