import KeychaindAuthentication
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Logging

/// Unlocking by asking a person.
extension Unlocker {
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
            var offer: LoginOffer?
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
                offer = LoginOffer(for: collection, in: vault)
                return unlockRequest(
                    of: collection,
                    hasDrifted: hasDrifted,
                    named,
                    key,
                    offering: offer,
                    for: caller,
                    in: conversation
                )
            }
            switch consume asked {
            case .right(let key):
                if conversation.hasChosen { await offer?.accept(openedBy: key, logger) }
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
        offering offer: LoginOffer?,
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
                offering: offer?.choice,
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
}
