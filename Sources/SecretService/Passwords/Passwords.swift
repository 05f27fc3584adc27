import Authentication
import DBus
import Gcrypt
import KeychainModel
import Logging
import Vault

/// Tries passwords and recovery keys of keychains, and asks people for them.
@BusActor
struct Passwords {
    let vault: Vault
    let lockouts: LockoutTable
    let collections: Collections
    let logger: Logger

    /// Asks for the password or a recovery key of a keychain until it is right; nil if it is not given.
    func askKey(
        of collection: Collection,
        for purpose: KeyPurpose,
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
            return conversation.keyRequest(of: collection.label, for: purpose, caller)
        }
        return rightPassword(asked)
    }

    /// The right password that a person gave; nil without one, and a line in the log if one could not be tried.
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

    /// Ends the proofs of contexts if a keychain whose password was changed or removed is `login`.
    func passwordChanged(of collection: CollectionName) {
        collections.endProofs(with: collection, because: "the password of the login keychain was changed")
    }
}
