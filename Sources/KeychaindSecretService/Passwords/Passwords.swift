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
