import Authentication
import DBus
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
            default: .failed
            }
        self.init(name, error.reason)
    }
}
