import Authentication
import DBus
import Desktop
package import Gcrypt
import KeychainModel
import Logging
package import Vault

/// Changes to whole collections, with the signals that tell of them.
extension Provider {
    /// Unlocks a collection with a password that came from outside, such as at login.
    package func unlock(_ collection: Collection, with password: consuming SecureBytes) async throws(VaultError) {
        let isPasscode = collection.name == .login && collection.isLocked
        try await collection.unlock(with: password)
        if isPasscode { await lockouts.people.passcodeWasRight() }
        logger.info("Unlocked a keychain", metadata: ["keychain": "\(collection.name)"])
        changes.lockChanged(collection)
    }

    /// Unlocks a collection by asking for its password, again while it is wrong; false if that came to nothing.
    ///
    /// Whoever waits for its turn to ask is served by what unlocks the collection meanwhile.
    ///
    /// - Parameters:
    ///   - named: protected items that the dialog for the password of `login` names; it keeps that password.
    ///   - principal: for whom the caller asks, if it says so and can be believed.
    func unlock(
        _ collection: Collection,
        asking conversation: Conversation,
        naming named: NamedItems? = nil,
        for principal: Caller? = nil
    ) async -> Bool {
        await settle([collection])
        if !collection.isLocked { return true }
        guard (try? await conversation.begin()) == true else { return false }
        await settle([collection])
        var caller = await callers.caller(conversation.caller)
        if let principal { caller = principal }
        let verifier = CollectionPassword(of: collection, provider: self)
        let typed = GivenPasscode()
        var warning = ""
        while collection.isLocked {
            guard vault.collection(named: collection.name) === collection, mayBeMade(collection) else { return false }
            let hasDrifted = collection.name == .login && !collection.isVacant && drifted.isThere
            let named = collection.name == .login && !collection.isVacant ? named : nil
            let answer =
                if collection.isVacant {
                    await conversation.askNewPassword(of: collection.label, for: caller)
                } else if hasDrifted {
                    await conversation.askFormerPassword(
                        of: collection.label,
                        for: caller,
                        named?.purpose,
                        warning: warning
                    )
                } else {
                    await conversation.askPassword(of: collection.label, for: caller, named?.purpose, warning: warning)
                }
            guard let password = answer else {
                // It is asked for once.
                if hasDrifted { drifted.forget() }
                return false
            }
            typed.keep(password)
            let attempt = await attempt(
                password,
                on: verifier,
                of: collection,
                broughtBy: LockoutParty(conversation.trustOfAnswer)
            )
            switch attempt {
            case .right:
                await finish(collection, openedBy: typed, hasDrifted, named?.passcode, asking: conversation)
            case .wrong, .tooEarly: warning = attempt.warning(isMistyped: verifier.isMistyped)
            case .failed: return false
            }
        }
        return true
    }

    /// Sees to the password of a keychain that was just unlocked, where that is not what it should be, and keeps the passcode.
    private func finish(
        _ collection: Collection,
        openedBy typed: GivenPasscode,
        _ hasDrifted: Bool,
        _ passcode: GivenPasscode?,
        asking conversation: Conversation
    ) async {
        guard let key = typed.copy() else { return }
        let wasRecovered = collection.unlockedBy == .recoveryKey
        if hasDrifted {
            let isAdopted = await adoptLoginPassword(
                from: key,
                of: collection,
                asking: conversation,
                keeping: passcode
            )
            if !isAdopted, !wasRecovered, let key = typed.copy() { passcode?.keep(key) }
        } else if wasRecovered {
            await replaceForgottenPassword(of: collection, openedBy: key, asking: conversation)
        } else {
            passcode?.keep(key)
        }
    }

    /// Locks a collection; true if it is locked now, false if it is the one in memory, which never is.
    func lock(_ collection: Collection) -> Bool {
        if collection.isEphemeral { return false }
        // While a key is being derived this takes effect as soon as there is one.
        let wasLocked = collection.isLocked
        collection.lock()
        if wasLocked { return true }
        access.endGrants(in: collection.name)
        contexts.endAuthorizations(in: collection.name)
        endProofs(with: collection.name, because: "the login keychain was locked")
        logger.info("Locked a keychain", metadata: ["keychain": "\(collection.name)"])
        changes.lockChanged(collection)
        return true
    }

    /// Locks the collections that are meant, by their names: for what happens outside of the bus.
    package func lockCollections(where isMeant: (String) -> Bool) {
        for collection in vault.collections where isMeant(collection.name.description) {
            _ = lock(collection)
        }
    }

    /// Creates a collection, and gives it the alias unless that is empty; nil, and a line in the log, if it cannot be made, or not
    /// get its alias: it would not be found, and another made for the next caller.
    ///
    /// If there is one with that alias by now, it is that one: of several callers, all get the same (#55).
    func create(label: String, alias: String, password: consuming SecureBytes) async -> Collection? {
        if alias.isEmpty { return await createOrLog(label: label, password: password) }
        await creations.begin(alias)
        defer { creations.end(alias) }
        if let collection = existingCollection(forAlias: alias) { return collection }
        guard let collection = await createOrLog(label: label, password: password) else { return nil }
        do throws(VaultError) {
            try await vault.setAlias(alias, to: collection)
        } catch {
            logger.error("A new keychain could not get its alias", metadata: ["reason": "\(error)"])
            // Unless somebody was as quick as to store something in it.
            guard collection.itemIDs.isEmpty else { return collection }
            try? await delete(collection, by: "")
            return nil
        }
        return collection
    }

    private func createOrLog(label: String, password: consuming SecureBytes) async -> Collection? {
        do throws(VaultError) {
            return try await create(label: label, password: password)
        } catch {
            logger.error("A keychain could not be created", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    /// Creates a collection.
    func create(label: String, password: consuming SecureBytes) async throws(VaultError) -> Collection {
        let collection = try await vault.createCollection(label: label, password: password)
        logger.info("Created a keychain", metadata: ["keychain": "\(collection.name)"])
        changes.collectionCreated(collection.name, all: collectionPaths)
        return collection
    }

    func delete(_ collection: Collection, by caller: String) async throws(BusError) {
        let name = collection.name
        let isAudited = collection.protectedItemCount > 0
        try await translatingErrors { () async throws(VaultError) in try await vault.delete(collection) }
        lockouts.forget(collection)
        if isAudited { audit.deleted(.collection(name), by: caller) }
        access.endGrants(in: name)
        contexts.endAuthorizations(in: name)
        endProofs(with: name, because: "the login keychain was deleted")
        logger.info("Deleted a keychain", metadata: ["keychain": "\(name)"])
        changes.collectionDeleted(name, all: collectionPaths)
        // The place of `login` does not stay empty: it waits for a new first password.
        if vault.collection(named: name) != nil {
            changes.collectionCreated(name, all: collectionPaths)
        }
    }

    /// Gives a collection that was just made the label that was asked for.
    func relabel(_ collection: Collection, _ label: String) async {
        guard collection.label != label else { return }
        do throws(VaultError) {
            try await collection.setLabel(label)
            changes.labelChanged(collection)
        } catch {
            logger.warning("A keychain could not be renamed", metadata: ["reason": "\(error)"])
        }
    }

    func reportUnreadable(_ name: CollectionName, reason: String) {
        logger.error(
            "A keychain cannot be read, and is kept as it is",
            metadata: ["keychain": "\(name)", "reason": "\(reason)"]
        )
    }

    // MARK: The first password

    /// Throws `notSupported` if a collection is `login`, waits for its first password, and may not get it from anybody on the bus now.
    ///
    /// That password is the passcode: what is protected already would open by it, whoever has chosen it.
    func checkFirstPassword(of collection: Collection) throws(VaultError) {
        guard collection.name == .login, collection.isVacant,
            let other = vault.collections.first(where: { $0 !== collection && $0.protectedItemCount > 0 })
        else { return }
        throw VaultError(
            .notSupported,
            reason:
                """
                the keychain '\(other.label)' has protected items, which the password of a new login keychain would open; delete \
                them first, or log in again
                """
        )
    }

    /// Whether a collection may get its first password now; if not, the log says why.
    func mayBeMade(_ collection: Collection) -> Bool {
        do throws(VaultError) {
            try checkFirstPassword(of: collection)
            return true
        } catch {
            logger.error(
                "A keychain is not made",
                metadata: ["keychain": "\(collection.name)", "reason": "\(error.reason)"]
            )
            return false
        }
    }

    // MARK: Aliases

    func checkAlias(_ alias: String) throws(BusError) {
        guard alias.utf8.count <= limits.aliasBytes else {
            throw BusError(.limitsExceeded, "an alias has at most \(limits.aliasBytes) bytes")
        }
    }

    func checkLabel(_ label: String) throws(BusError) {
        guard label.utf8.count <= vault.limits.labelBytes else {
            throw BusError(.limitsExceeded, "a label has at most \(vault.limits.labelBytes) bytes")
        }
    }

    /// The collection that an alias names, if it is there: `login` is not until it has a password.
    func existingCollection(forAlias alias: String) -> Collection? {
        guard !alias.isEmpty, let collection = vault.collection(forAlias: alias), !collection.isVacant else {
            return nil
        }
        return collection
    }

    /// The collection that an alias names and that waits for its first password.
    func vacantCollection(forAlias alias: String) -> Collection? {
        guard !alias.isEmpty, let collection = vault.collection(forAlias: alias), collection.isVacant else {
            return nil
        }
        return collection
    }

    // MARK: Waiting

    /// Waits until no key of the collections is being derived, for a bounded time in all.
    func settle(_ collections: [Collection]) async {
        let awaited = collections.filter(\.isAwaited)
        guard !awaited.isEmpty else { return }
        await withCheckedContinuation { continuation in
            let waiter = Waiter(continuation)
            let timer = BusActor.loop.schedule(after: limits.settlingTime) { waiter.finish() }
            var count = awaited.count
            for collection in awaited {
                collection.onSettled {
                    count -= 1
                    guard count == 0 else { return }
                    BusActor.loop.cancel(timer)
                    waiter.finish()
                }
            }
        }
    }
}
