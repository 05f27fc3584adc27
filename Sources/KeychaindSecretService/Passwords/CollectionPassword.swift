import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindVault
import Logging

/// Verifies the password or recovery key of a locked collection by unlocking it.
@BusActor
final class CollectionPassword: PasswordVerifier {
    private let collection: Collection
    private let client: Client?
    private let unlocker: Unlocker

    /// - Parameter client: the client whose prompt asks, if any.
    init(of collection: Collection, for client: Client? = nil, unlocker: Unlocker) {
        self.collection = collection
        self.client = client
        self.unlocker = unlocker
    }

    var isSet: Bool { !collection.isVacant }

    func verify(_ password: consuming SecureBytes) async -> PasswordResult {
        // When choosing the first password, an empty one does not count as a failed attempt.
        if collection.isVacant, password.isEmpty { return .wrong(.empty) }
        do throws(VaultError) {
            try unlocker.collections.checkFirstPassword(of: collection)
            try await unlocker.unlock(collection, with: password, for: client)
            return .right
        } catch {
            let result = PasswordResult(error)
            if case .failed = result {
                unlocker.logger.error(
                    "A keychain could not be unlocked",
                    metadata: ["keychain": "\(collection.name)", "reason": "\(error)"]
                )
            }
            return result
        }
    }
}
