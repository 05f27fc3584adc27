import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindVault

/// Verifies the password or recovery key of a keychain without unlocking it.
@BusActor
final class KeychainKey: PasswordVerifier {
    private let collection: Collection

    init(of collection: Collection) {
        self.collection = collection
    }

    var isSet: Bool { !collection.isVacant }

    func verify(_ key: consuming SecureBytes) async -> PasswordResult {
        do throws(VaultError) {
            try await collection.verify(key)
            return .right
        } catch {
            return PasswordResult(error)
        }
    }
}

extension PasswordResult {
    init(_ error: VaultError) {
        switch error.code {
        case .wrongPassword, .emptyPassword, .wrongApplicationPassword: self = .wrong()
        case .mistypedRecoveryKey: self = .wrong(.mistypedRecoveryKey)
        case .locked, .unreadable, .noSuchItem, .noSuchCollection, .inUse, .storageFull, .readOnly, .storageFailed,
            .displaced, .unsupportedFormat, .limitExceeded, .notSupported, .busy, .cryptographyFailed,
            .invalidAccessControl, .authenticationNeeded, .passcodeNotSet, .applicationPasswordNeeded, .lastKeySlot,
            .noSuchKeySlot,
            .hostNotAvailable:
            self = .failed(reason: error.reason)
        }
    }
}
