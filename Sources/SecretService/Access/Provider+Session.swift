import Authentication
import DBus
import KeychainModel
import Logging
import Vault

extension Provider {
    /// Takes note of the screen being locked, or unlocked.
    ///
    /// Behind a locked screen nobody sees who asks: what was granted and proved ends, and so do the dialogs.
    package func setSessionLocked(_ isLocked: Bool) {
        guard isLocked != access.isSessionLocked else { return }
        logger.info("The session is \(isLocked ? "locked" : "unlocked")")
        access.isSessionLocked = isLocked
        if isLocked { endAuthentication(because: "the session was locked") }
        for collection in vault.collections where !collection.isLocked && collection.hasProtectedItems {
            changes.sessionLockChanged(collection)
        }
    }

    /// Ends what was granted to programs and proved to contexts, and the dialogs that ask for it.
    package func endAuthentication(because reason: String) {
        let withdrawal = Withdrawal.bySystem(reason: reason)
        access.endGrants()
        contexts.endProofs(withdrawal)
        prompts.dismissRunning(withdrawal)
        conversations.endAll(withdrawal)
    }

    /// Ends what was proved to contexts if the collection is `login`: its password, which is the passcode, is another now, or locked
    /// away with it.
    func endProofs(with collection: CollectionName, because reason: String) {
        if collection == .login { contexts.endProofs(.bySystem(reason: reason)) }
    }
}
