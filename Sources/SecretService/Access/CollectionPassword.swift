import Authentication
import DBus
import Gcrypt
import Logging
import Vault

/// The password of a locked collection, verified by unlocking that.
@BusActor
final class CollectionPassword: Passcode {
    private let collection: Collection
    private let provider: Provider

    init(of collection: Collection, provider: Provider) {
        self.collection = collection
        self.provider = provider
    }

    var isSet: Bool { !collection.isVacant }

    func verify(_ password: consuming SecureBytes) async -> PasscodeOutcome {
        do throws(VaultError) {
            try await provider.unlock(collection, with: password)
            return .right
        } catch  where error.code == .wrongPassword || error.code == .emptyPassword {
            return .wrong
        } catch {
            provider.logger.error(
                "A keychain could not be unlocked",
                metadata: ["keychain": "\(collection.name)", "reason": "\(error)"]
            )
            return .failed(reason: error.reason)
        }
    }
}
