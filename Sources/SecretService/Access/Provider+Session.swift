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
        if isLocked { endAuthentication() }
        for collection in vault.collections where !collection.isLocked && collection.hasProtectedItems {
            changes.sessionLockChanged(collection)
        }
    }

    /// Ends what was granted to programs and proved to contexts, and the dialogs that ask for it.
    package func endAuthentication() {
        access.endGrants()
        contexts.endProofs()
        prompts.dismissRunning()
        conversations.endAll()
    }
}
