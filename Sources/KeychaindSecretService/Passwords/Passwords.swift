import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Logging

/// Verifies passwords and recovery keys of keychains, and asks people for them.
@BusActor
struct Passwords {
    let vault: Vault
    let lockouts: LockoutTable
    let collections: Collections
    let logger: Logger

    /// Asks for the password or a recovery key of a keychain until it is correct; nil if it is not given.
    func askKey(
        of collection: Collection,
        for reason: KeyRequestReason,
        asking conversation: Conversation,
        for client: Client
    ) async -> SecureBytes? {
        guard (try? await conversation.begin()) == true else { return nil }
        let caller = await client.caller()
        let asked = await conversation.askPassword(
            verifiedBy: KeychainKey(of: collection),
            countedBy: lockouts.lockout(of: collection)
        ) {
            guard vault.collection(named: collection.name) === collection else { return nil }
            return conversation.keyRequest(of: collection.label, for: reason, caller)
        }
        return rightPassword(asked)
    }

    /// Returns the correct password, or nil, and logs a failed verification.
    func rightPassword(_ asked: consuming AskedPassword) -> SecureBytes? {
        switch consume asked {
        case .right(let password): return password
        case .unanswered: return nil
        case .stopped: return nil
        case .failed(let reason):
            logger.error("A password could not be verified", metadata: ["reason": "\(reason)"])
            return nil
        }
    }

    /// Ends the contexts' proofs after a change or removal of a password of `login`.
    func passwordChanged(of collection: CollectionName) {
        collections.endProofs(with: collection, because: "the password of the login keychain was changed")
    }
}

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
