import Authentication
import DBus
import Gcrypt
import Logging
import Vault

/// The password of a locked collection, or a recovery key in its place, verified by unlocking that.
@BusActor
final class CollectionPassword: Passcode {
    private let collection: Collection
    private let unlocker: Unlocker
    /// Whether the last one reads like a recovery key with a mistake in it.
    private(set) var isMistyped = false

    init(of collection: Collection, unlocker: Unlocker) {
        self.collection = collection
        self.unlocker = unlocker
    }

    var isSet: Bool { !collection.isVacant }

    func verify(_ password: consuming SecureBytes) async -> PasscodeOutcome {
        isMistyped = false
        do throws(VaultError) {
            try unlocker.collections.checkFirstPassword(of: collection)
            try await unlocker.unlock(collection, with: password)
            return .right
        } catch  where error.isWrongKey {
            isMistyped = error.code == .mistypedRecoveryKey
            return .wrong
        } catch {
            unlocker.logger.error(
                "A keychain could not be unlocked",
                metadata: ["keychain": "\(collection.name)", "reason": "\(error)"]
            )
            return .failed(reason: error.reason)
        }
    }
}
