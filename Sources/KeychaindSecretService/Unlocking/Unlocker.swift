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
    private let drifted = DriftedPassword()
    private let hostFailure = HostFailure()

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
            // The client must know before its prompt completes; who has unlocked it may tell it later.
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

    // MARK: Asking

    /// Asks for the password of a collection until it is unlocked; false if that fails.
    ///
    /// Also succeeds if the collection is unlocked while the conversation waits for its turn.
    ///
    /// - Parameter principal: the program for which the client asks, if the client may speak for others.
    func unlock(
        _ collection: Collection,
        asking conversation: Conversation,
        for client: Client,
        onBehalfOf principal: Caller? = nil
    ) async -> Bool {
        let password = CollectionPassword(of: collection, for: client, unlocker: self)
        return await unlock(password, asking: conversation, for: client, naming: nil, onBehalfOf: principal)
    }

    /// Asks for the password of a collection, or of that in its place by then, until that is unlocked; false if that
    /// fails.
    ///
    /// - Parameter named: protected items that the dialog for the password of `login` names; keeps that password.
    func unlockPresent(
        _ collection: Collection,
        asking conversation: Conversation,
        for client: Client,
        naming named: NamedItems?
    ) async -> Bool {
        let password = CollectionPassword(of: collection, for: client, follows: true, unlocker: self)
        return await unlock(password, asking: conversation, for: client, naming: named, onBehalfOf: nil)
    }

    private func unlock(
        _ verifier: CollectionPassword,
        asking conversation: Conversation,
        for client: Client,
        naming named: NamedItems?,
        onBehalfOf principal: Caller?
    ) async -> Bool {
        await readiness.waitForKeys { [verifier.collection] }
        if !verifier.collection.isLocked { return true }
        guard (try? await conversation.begin()) == true else { return false }
        await readiness.waitForKeys { [verifier.collection] }
        var caller = await client.caller()
        if let principal { caller = principal }
        await verifier.follow()
        let key = SecurityKeyUnlock(beside: verifier, asking: conversation, for: client, caller, unlocker: self)
        while verifier.collection.isLocked {
            var hasDrifted = false
            var named = named
            let asked = await conversation.askPassword(
                verifiedBy: verifier,
                countedBy: PasswordLockout { [passwords] source in
                    passwords.lockouts.keeper(of: verifier.collection, from: source)
                },
                or: key
            ) {
                await verifier.follow()
                let collection = verifier.collection
                guard collection.isLocked, !collection.isUnreadable, !collection.isRetired,
                    vault.collection(named: collection.name) === collection, collections.mayGetFirstPassword(collection)
                else { return nil }
                let isLogin = collection.name == .login && !collection.isVacant
                hasDrifted = isLogin && drifted.isThere
                if !isLogin { named = nil }
                return unlockRequest(of: collection, hasDrifted: hasDrifted, named, key, for: caller, in: conversation)
            }
            switch consume asked {
            case .right(let key):
                await finish(
                    verifier.collection,
                    openedBy: key,
                    hasDrifted,
                    named?.passcode,
                    asking: conversation,
                    for: caller
                )
            case .unanswered:
                // After a dismissal, the login password is not asked for again.
                if hasDrifted { drifted.forget() }
                return false
            case .stopped:
                return !verifier.collection.isLocked
            case .failed:
                // Another object may have taken its place between the answer and the attempt.
                guard await verifier.follow() else { return false }
            }
        }
        return true
    }

    private func unlockRequest(
        of collection: Collection,
        hasDrifted: Bool,
        _ named: NamedItems?,
        _ key: SecurityKeyUnlock?,
        for caller: Caller,
        in conversation: Conversation
    ) -> PromptRequest {
        if collection.isVacant {
            conversation.newPasswordRequest(
                of: collection.label,
                for: caller,
                insteadOf: collection.name == .login ? .firstOfLogin : .first
            )
        } else if hasDrifted {
            conversation.formerPasswordRequest(of: collection.label, for: caller, named?.purpose, or: key?.offer)
        } else {
            conversation.passwordRequest(
                of: collection.label,
                for: caller,
                named?.purpose,
                or: key?.offer,
                hostFailure: collection.name == .login ? hostFailure.reason : nil
            )
        }
    }

    /// Keeps the passcode, and replaces a password that was forgotten or is not the account's.
    private func finish(
        _ collection: Collection,
        openedBy key: consuming SecureBytes,
        _ hasDrifted: Bool,
        _ passcode: KeptPassword?,
        asking conversation: Conversation,
        for caller: Caller
    ) async {
        let wasRecovered = collection.unlockedBy == .recoveryKey
        if hasDrifted {
            let typed = KeptPassword()
            typed.keep(key)
            let isAdopted = await adoptLoginPassword(
                from: key,
                of: collection,
                asking: conversation,
                for: caller,
                keeping: passcode
            )
            if !isAdopted, !wasRecovered, let key = typed.copy() { passcode?.keep(key) }
        } else if wasRecovered {
            await replaceForgottenPassword(of: collection, openedBy: key, asking: conversation, for: caller)
        } else {
            passcode?.keep(key)
        }
    }

    /// Asks the user of a recovery key for a new password.
    private func replaceForgottenPassword(
        of collection: Collection,
        openedBy key: consuming SecureBytes,
        asking conversation: Conversation,
        for caller: Caller
    ) async {
        guard
            let password = await conversation.askNewPassword(
                conversation.newPasswordRequest(of: collection.label, for: caller, insteadOf: .forgotten)
            )
        else { return }
        do throws(VaultError) {
            try await collection.changePassword(from: key, to: password)
            passwords.passwordChanged(of: collection.name)
            logger.notice("A keychain has a new password", metadata: ["keychain": "\(collection.name)"])
        } catch {
            logger.error("A keychain keeps its old password", metadata: ["reason": "\(error)"])
        }
    }

    // MARK: The password of the account

    /// Keeps the password of a login that does not open `login`.
    ///
    /// The next person who unlocks `login` is asked for this password, too. If they type it, it becomes the password of
    /// the keychain. It is forgotten in either case.
    func rememberLoginPassword(_ password: borrowing SecureBytes) {
        drifted.keep(password)
        if let login = vault.collection(named: .login) { notices.loginPasswordDiffers(login) }
    }

    /// Forgets the kept password: a later login unlocked `login`.
    func forgetLoginPassword() {
        drifted.forget()
        notices.resolve(.loginPassword)
    }

    /// Changes the keychains that a key opens to the password of the last login; false if `login` keeps its own.
    ///
    /// A person must type it: the login may have used a one-time code or another person's password, which must not
    /// become the only way into a keychain.
    ///
    /// - Parameter passcode: keeps the new password of `login`.
    private func adoptLoginPassword(
        from old: consuming SecureBytes,
        of login: Collection,
        asking conversation: Conversation,
        for caller: Caller,
        keeping passcode: KeptPassword?
    ) async -> Bool {
        defer { drifted.forget() }
        guard let new = await askLoginPassword(of: login, asking: conversation, for: caller) else {
            logger.notice("The keychain keeps its password", metadata: ["reason": "that of the login was not given"])
            return false
        }
        let given = KeptPassword()
        given.keep(new)
        do throws(VaultError) {
            let change = try await vault.changePasswords(from: old, to: new)
            for name in change.changed {
                passwords.passwordChanged(of: name)
                logger.notice("A keychain has the password of the account again", metadata: ["keychain": "\(name)"])
            }
            for (name, error) in change.failed {
                logger.error(
                    "A keychain keeps its old password",
                    metadata: ["keychain": "\(name)", "reason": "\(error)"]
                )
            }
            guard change.changed.contains(login.name) else { return false }
            notices.resolve(.loginPassword)
            if let new = given.copy() { passcode?.keep(new) }
            return true
        } catch {
            logger.error("The keychain keeps its old password", metadata: ["reason": "\(error)"])
            return false
        }
    }

    /// Asks for the kept login password; nil if the person does not type it.
    private func askLoginPassword(
        of login: Collection,
        asking conversation: Conversation,
        for caller: Caller
    ) async -> SecureBytes? {
        let asked = await conversation.askPassword(
            tries: Self.loginPasswordAttempts,
            verifiedBy: drifted,
            // The number of tries is the bound.
            countedBy: PasswordLockout { _ in nil }
        ) {
            drifted.isThere ? conversation.loginPasswordRequest(of: login.label, for: caller) : nil
        }
        // A dismissal changes nothing.
        guard let password = passwords.rightPassword(asked), !conversation.isEnded else { return nil }
        return password
    }

    /// Maximum number of tries, against guessing the login password.
    private static var loginPasswordAttempts: Int { 3 }
}

/// Why the key slot of this computer did not open `login`, until a password has.
@BusActor
private final class HostFailure {
    var reason: String?

    nonisolated init() {}
}
