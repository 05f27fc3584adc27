import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindModel
import KeychaindVault
import Logging

/// Unlocks keychains with a supplied password, by asking a person, or with the key slot of this computer.
@BusActor
struct Unlocker {
    let vault: Vault
    let collections: Collections
    let passwords: Passwords
    let host: any HostSealer
    let securityKeys: any SecurityKeys
    let readiness: Readiness
    let changes: ChangeNotifier
    let notices: Notices
    let logger: Logger
    /// The password of the last login that did not open `login`.
    let drifted = DriftedPassword()
    let hostFailure = HostFailure()

    /// Unlocks a collection with a supplied password, such as that of a login.
    ///
    /// - Parameters:
    ///   - begun: when the password was given; now if nil.
    ///   - client: the client whose prompt asked for the password, if any.
    /// - Returns: whether the password has unlocked it; false if it was unlocked before it was tried.
    @discardableResult
    func unlock(
        _ collection: Collection,
        with password: consuming SecureBytes,
        begun: LockMoment? = nil,
        for client: Client? = nil
    ) async throws(VaultError) -> Bool {
        let isFirst = collection.isVacant
        guard try await collection.unlock(with: password, begun: begun) else {
            // The client must know before its prompt completes; the signals of the other unlock may come later.
            changes.lockChanged(collection, by: client)
            return false
        }
        if collection.name == .login {
            if isFirst { recommendRecoveryKey(for: collection) }
            hostFailure.reason = nil
            await passwords.lockouts.people.passcodeWasRight()
        }
        logger.info("Unlocked a keychain", metadata: ["keychain": "\(collection.name)"])
        changes.lockChanged(collection, by: client)
        return true
    }

    /// Unlocks a collection with the secret of a security key, touched after `begun`.
    func unlock(
        _ collection: Collection,
        bySecurityKey secret: consuming SecureBytes,
        begun: LockMoment,
        for client: Client
    ) async throws(VaultError) {
        try await collection.unlock(bySecurityKey: secret, begun: begun)
        logger.info("A security key has unlocked a keychain", metadata: ["keychain": "\(collection.name)"])
        changes.lockChanged(collection, by: client)
    }

    /// Begins to unlock the keychains that open with `login`, which was unlocked just now; calls for them wait.
    ///
    /// - Parameter begun: when the unlock of `login` began: a keychain that was locked since then stays locked.
    func unlockOthersWithLogin(_ begun: LockMoment) {
        for collection in vault.collections where collection.beginUnlockWithLogin(begun: begun) {
            BusActor.start { await unlockWithLogin(collection, begun) }
        }
    }

    private func unlockWithLogin(_ collection: Collection, _ begun: LockMoment) async {
        do throws(VaultError) {
            try await collection.finishUnlockWithLogin(begun: begun)
            logger.info("The login keychain has unlocked a keychain", metadata: ["keychain": "\(collection.name)"])
            changes.lockChanged(collection)
        } catch {
            logger.warning(
                "The login keychain did not unlock a keychain",
                metadata: ["keychain": "\(collection.name)", "reason": "\(error.reason)"]
            )
        }
    }

    /// Tells the person once, after the first password, how to be safe from forgetting it.
    ///
    /// Not by a dialog: programs create `login` in the middle of something else.
    private func recommendRecoveryKey(for collection: Collection) {
        let label = PromptText.name(collection.label)
        changes.show(
            DesktopNotification(
                summary: Text("Make a recovery key"),
                body: Text(
                    """
                    Your passwords are now kept in the keychain “\(label)”. If you forget its password, nobody can \
                    read them. A recovery key on paper helps: run “keychainctl recovery-key”.
                    """
                )
            )
        )
    }

    /// Unlocks a collection with the key slot of this computer; logs a failure.
    func unlockByHost(_ collection: Collection) async {
        // The keys of the previous process may have unlocked it.
        guard collection.isLocked else { return }
        guard collection.keySlots.contains(where: { slot in slot.kind == .host }) else {
            return logger.notice(
                "This computer has no key slot of a keychain",
                metadata: ["keychain": "\(collection.name)"]
            )
        }
        do throws(VaultError) {
            try await collection.unlock(byHost: host)
            notices.resolve(.host)
            logger.info("This computer has unlocked a keychain", metadata: ["keychain": "\(collection.name)"])
            changes.lockChanged(collection)
        } catch {
            logger.warning(
                "This computer did not unlock a keychain",
                metadata: ["keychain": "\(collection.name)", "reason": "\(error.reason)"]
            )
            hostFailure.reason = error.reason
            notices.hostFailed(collection, reason: error.reason)
        }
    }
}

/// Why the key slot of this computer did not open `login`, until a password has.
@BusActor
final class HostFailure {
    var reason: String?

    nonisolated init() {}
}
