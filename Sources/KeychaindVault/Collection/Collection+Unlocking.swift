package import KeychaindGcrypt
import KeychaindModel
import Logging

/// Unlocking by any of the key slots.
extension Collection {
    /// Unlocks the collection with a password or a recovery key; creates it when it is vacant.
    ///
    /// Tries one password at a time. Throws `emptyPassword`, `wrongPassword`, `mistypedRecoveryKey`, `unreadable`,
    /// `locked` after a ``lock()`` since then, `limitExceeded` when locked memory is short, `busy` when a file has
    /// appeared for a vacant collection, and disk errors.
    ///
    /// - Parameter begun: when the password was given; now if nil.
    /// - Returns: whether the password has unlocked it; false if it was unlocked before it was tried.
    @discardableResult
    package func unlock(
        with password: consuming SecureBytes,
        begun: LockMoment? = nil
    ) async throws(VaultError) -> Bool {
        let begun = begun ?? context.locks.now
        try context.configuration.limits.check(password: password)
        await waitUntilSettled()
        guard try needsKey() else { return false }
        let password = Handoff(password)
        if case .vacant = phase {
            try await settle(to: .vacant, begun) { () async throws(VaultError) in try await create(password) }
        } else {
            try await settle(to: .locked, begun) { () async throws(VaultError) in try await open(.text(password)) }
        }
        return true
    }

    /// Unlocks the collection with this machine's key slot.
    ///
    /// Throws `noSuchKeySlot`, `hostNotAvailable`, `wrongPassword` for another machine's slot, and like
    /// ``unlock(with:begun:)``.
    package func unlock(byHost sealer: any HostSealer) async throws(VaultError) {
        let begun = context.locks.now
        await waitUntilSettled()
        guard try needsKey() else { return }
        guard keySlots.contains(where: { slot in slot.kind == .host }) else {
            throw VaultError(.noSuchKeySlot, reason: "the collection has no key slot for a machine")
        }
        try await settle(to: .locked, begun) { () async throws(VaultError) in try await open(.host(sealer)) }
    }

    /// Unlocks the collection with the secret of a security key.
    ///
    /// Throws `noSuchKeySlot`, `wrongPassword` for a secret that opens no slot, and like ``unlock(with:begun:)``.
    ///
    /// - Parameter begun: when the security key was touched; now if nil.
    package func unlock(
        bySecurityKey secret: consuming SecureBytes,
        begun: LockMoment? = nil
    ) async throws(VaultError) {
        let begun = begun ?? context.locks.now
        let secret = Handoff(secret)
        await waitUntilSettled()
        guard try needsKey() else { return }
        guard keySlots.contains(where: { slot in slot.kind == .securityKey }) else {
            throw VaultError(.noSuchKeySlot, reason: "the collection has no key slot for a security key")
        }
        try await settle(to: .locked, begun) { () async throws(VaultError) in try await open(.securityKey(secret)) }
    }

    /// Begins to unlock the collection with `login`, which was unlocked just now; ``finishUnlockWithLogin(begun:)``
    /// must follow.
    ///
    /// - Parameter begun: when the unlock of `login` began.
    /// - Returns: false if `login` cannot open it, if it is not locked, and if it was locked since then.
    package func beginUnlockWithLogin(begun: LockMoment) -> Bool {
        guard case .locked = phase, opensWithLogin, (try? loginKey()) != nil, !context.locks.contain(name, since: begun)
        else { return false }
        phase = .unlocking(isLockRequested: false)
        return true
    }

    /// Throws `wrongPassword` for a damaged key slot, and like ``unlock(with:begun:)``.
    package func finishUnlockWithLogin(begun: LockMoment) async throws(VaultError) {
        try await finish(to: .locked, begun) { () async throws(VaultError) in try await open(.login(loginKey())) }
    }

    /// `login`, while its key is being derived and will open this locked collection, too; nil otherwise.
    package var awaitedLogin: Collection? {
        guard case .locked = phase, let login = context.login.collection, case .unlocking = login.phase, opensWithLogin
        else { return nil }
        return login
    }

    /// Unlocks the collection with handed-over keys; false if it is a different collection or not locked.
    func unlock(with handover: KeyHandover.Entry) async throws(VaultError) -> Bool {
        guard case .locked = phase, case .file(let worker) = storage, header?.identifier == handover.identifier else {
            return false
        }
        let keys = handover.keys
        let begun = handover.begun ?? context.locks.now
        try await settle(to: .locked, begun) { () async throws(VaultError) in
            // With wrong keys, all items would look damaged.
            try await worker.perform { (writer) throws(VaultError) in try writer.checkKeys(keys.collection) }
            return try await open(.keys(keys))
        }
        return true
    }

    func waitUntilSettled() async {
        while case .unlocking = phase {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                onSettled { continuation.resume() }
            }
        }
    }

    /// Whether a key would unlock the collection; throws if none can.
    private func needsKey() throws(VaultError) -> Bool {
        switch phase {
        case .vacant, .locked: return true
        case .unlocked, .unlocking: return false
        case .unreadable(let reason): throw VaultError(.unreadable, reason: reason)
        case .deleted: throw VaultError.collectionDeleted
        case .retired: throw VaultError.collectionRetired
        }
    }

    private func settle(
        to fallback: CollectionPhase,
        _ begun: LockMoment,
        by attempt: () async throws(VaultError) -> UnlockedKeys
    ) async throws(VaultError) {
        guard !context.locks.contain(name, since: begun) else { throw VaultError.lockedMeanwhile }
        phase = .unlocking(isLockRequested: false)
        try await finish(to: fallback, begun, by: attempt)
    }

    private func finish(
        to fallback: CollectionPhase,
        _ begun: LockMoment,
        by attempt: () async throws(VaultError) -> UnlockedKeys
    ) async throws(VaultError) {
        do throws(VaultError) {
            let keys = try await attempt()
            guard case .unlocking(let isLockRequested) = phase else { throw VaultError.collectionDeleted }
            if isLockRequested || context.locks.contain(name, since: begun) {
                if case .file(let worker) = storage { worker.post { writer in writer.lock() } }
                throw VaultError.lockedMeanwhile
            }
            adoptAuditKey(keys.collection)
            unlockedBy = keys.openedBy
            phase = .unlocked(keys.secrets)
            // Those who have waited for it go on later, and then wait for the others.
            if name == .login, keys.openedBy != nil { context.observer.onLoginUnlock?(begun) }
        } catch {
            switch (phase, fallback, storage) {
            case (.deleted, _, _), (.retired, _, _), (.unreadable, _, _): break
            // The file may have been created before the lock request was seen.
            case (_, .vacant, .file): phase = .locked
            // Nothing is left of a new file that could not be read.
            case (_, .vacant, _): phase = .vacant
            default:
                guard error.code == .unreadable else {
                    phase = fallback
                    break
                }
                condition = .damaged
                phase = .unreadable(reason: error.reason)
                context.observer.onProblem?(name)
            }
            throw error
        }
    }

    private func open(_ key: UnlockKey) async throws(VaultError) -> UnlockedKeys {
        guard case .file(let worker) = storage, let header else { throw VaultError.vaultClosed }
        try context.configuration.limits.checkKeyMemory()
        let keys = try await context.derivations.perform { () throws(VaultError) in
            try UnlockedKeys.unlock(header, with: key)
        }
        if self.keys != nil {
            worker.post { writer in writer.unlock(keys.secrets) }
            return keys
        }
        let known = table
        let contents = try await worker.perform { (writer) throws(VaultError) in
            try writer.load(keys.collection, keys.secrets, into: known)
        }
        let ledger = await storedLedger(keys.collection)
        let lastChange = await recordedLastChange()
        if let own = lastChange?.own { vaultNumber = own.vault }
        table = contents.table
        problems = contents.problems
        rollback = nil
        condition = contents.isWhole ? .sound : .damaged
        properties = contents.state
        position = contents.position
        if let lastChange { noticeMissingChanges(until: lastChange) }
        isWhole = contents.isWhole
        try adopt(ledger, isWhole: contents.isWhole, state: contents.state, keys.collection)
        self.keys = keys.collection
        for problem in problems + [rollback].compactMap(\.self) {
            context.configuration.logger.error("\(name): \(problem)")
        }
        if awaitsBackup { context.observer.onChange?(name) }
        awaitsBackup = false
        return keys
    }

    private func create(_ password: Handoff<SecureBytes>) async throws(VaultError) -> UnlockedKeys {
        try context.configuration.limits.checkKeyMemory()
        let now = context.configuration.now()
        let identifier = try cipher { () throws(GcryptError) in
            try RandomBytes.nonce(CollectionFormat.identifierSize)
        }
        let derivation = context.configuration.keyDerivation
        let emptyHeader = CollectionHeader(
            identifier: identifier,
            label: properties.label,
            created: now,
            modified: now,
            indexKey: context.indexKey.fingerprint,
            slots: []
        )
        let (keys, header) = try await context.derivations.perform { () throws(VaultError) in
            guard let password = password.take() else { throw VaultError.vaultClosed }
            var header = emptyHeader
            let keys = try UnlockedKeys.create(&header, password: password, derivation: derivation)
            return (keys, header)
        }
        let worker = try newWorker()
        do throws(VaultError) {
            properties = try await worker.perform { (writer) throws(VaultError) in
                try writer.create(header, keys: keys.collection, secretsKey: keys.secrets)
            }
        } catch {
            // Usually restored from a backup. It becomes `login`, and its own password unlocks it.
            if error.code == .busy, name == .login { await openFile() }
            throw error
        }
        self.header = header
        storage = .file(worker)
        self.keys = keys.collection
        ledger = .known(ProtectionLedger())
        keepLater(ProtectionLedger(), keys.collection)
        remember()
        context.observer.onChange?(name)
        return keys
    }

    private func adoptAuditKey(_ keys: CollectionKeys) {
        do throws(VaultError) {
            context.audit.add(try AuditKey(keys), of: name)
            if name == .login { context.folderWorker.post { folder in folder.writeAudit() } }
        } catch {
            context.configuration.logger.error("The audit cannot be written: \(error)")
        }
    }
}
