package import Authentication
package import DBus
import Gcrypt
import Vault

extension BusError {
    /// What a caller is told when the vault has refused or failed.
    init(_ error: VaultError) {
        let name: ErrorName =
            switch error.code {
            case .locked, .unreadable, .authenticationNeeded: .isLocked
            case .invalidAccessControl, .applicationPasswordNeeded: .invalidArguments
            case .passcodeNotSet: ErrorName(AuthenticationError.Code.passcodeNotSet)
            case .noSuchItem, .noSuchCollection, .noSuchKeySlot: .noSuchObject
            case .limitExceeded: .limitsExceeded
            case .notSupported, .lastKeySlot, .hostNotAvailable: .notSupported
            case .storageFull, .readOnly, .storageFailed: .inputOutput
            case .wrongPassword, .emptyPassword, .wrongApplicationPassword, .mistypedRecoveryKey: .accessDenied
            case .inUse, .unsupportedFormat, .busy, .cryptographyFailed: .failed
            }
        self.init(name, error.reason)
    }
}

extension BusError {
    /// What a caller is told when cryptography failed: their mistake, or that it failed.
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

/// Runs what the vault does, and turns its errors into those of the bus.
func translatingErrors<Result: ~Copyable>(
    _ body: () throws(VaultError) -> Result
) throws(BusError) -> Result {
    do throws(VaultError) {
        return try body()
    } catch {
        throw BusError(error)
    }
}

/// Runs what the vault does and waits for, and turns its errors into those of the bus.
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
    /// The name of an authentication's error: Apple's, below a prefix of our own.
    package init(_ code: AuthenticationError.Code) {
        let name = code.name
        self.init(rawValue: "org.keychaind.Error." + name.prefix(1).uppercased() + name.dropFirst())
    }
}

extension BusError {
    /// What a caller is told when an authentication has come to nothing.
    init(_ error: AuthenticationError) {
        self.init(ErrorName(error.code), error.reason)
    }
}

extension ErrorName {
    /// The object must be unlocked before this (#40).
    package static let isLocked = ErrorName(rawValue: "org.freedesktop.Secret.Error.IsLocked")

    /// The session does not exist, or is not the caller's (#41).
    package static let noSession = ErrorName(rawValue: "org.freedesktop.Secret.Error.NoSession")

    /// There is no such collection or item (#42).
    package static let noSuchObject = ErrorName(rawValue: "org.freedesktop.Secret.Error.NoSuchObject")

    /// The prompt was run before (#43).
    package static let alreadyExists = ErrorName(rawValue: "org.freedesktop.Secret.Error.AlreadyExists")

    /// The password is not that of the keychain, as gnome-keyring says it.
    package static let keyringDenied = ErrorName(rawValue: "org.gnome.keyring.Error.Denied")
}
