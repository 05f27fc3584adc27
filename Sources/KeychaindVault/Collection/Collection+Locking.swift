package import KeychaindGcrypt
import KeychaindModel
import Logging

extension Collection {
    /// Unlocks the collection with a password or a recovery key; creates it when it is vacant.
    ///
    /// Tries one password at a time. An unlocked collection stays unlocked, and the password is ignored. Throws
    /// `emptyPassword`, `wrongPassword`, `mistypedRecoveryKey`, `unreadable`, `locked` after a ``lock()`` since then,
    /// `limitExceeded` when locked memory is short, `busy` when a file has appeared for a vacant collection, and disk
    /// errors.
    ///
    /// - Parameter begun: when the password was given; now if nil.
    package func unlock(
        with password: consuming SecureBytes,
        begun: UnlockStart? = nil
    ) async throws(VaultError) {
        let begun = begun ?? context.locks.now
        try context.configuration.limits.check(password: password)
        await waitUntilSettled()
        switch phase {
        case .unlocked, .unlocking: return
        case .deleted: throw VaultError.collectionDeleted
        case .retired: throw VaultError.collectionRetired
        case .unreadable(let reason): throw VaultError(.unreadable, reason: reason)
        case .vacant:
            let password = Handoff(password)
            try await settle(to: .vacant, begun) { () async throws(VaultError) in try await create(password) }
        case .locked:
            let key = UnlockKey.text(Handoff(password))
            try await settle(to: .locked, begun) { () async throws(VaultError) in try await open(key) }
        }
    }

    /// Unlocks the collection with this machine's key slot.
    ///
    /// Throws `noSuchKeySlot`, `hostNotAvailable`, `wrongPassword` for another machine's slot, and like
    /// ``unlock(with:begun:)``.
    package func unlock(byHost sealer: any HostSealer) async throws(VaultError) {
        let begun = context.locks.now
        await waitUntilSettled()
        switch phase {
        case .unlocked, .unlocking: return
        case .deleted: throw VaultError.collectionDeleted
        case .retired: throw VaultError.collectionRetired
        case .unreadable(let reason): throw VaultError(.unreadable, reason: reason)
        case .vacant, .locked: break
        }
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
        begun: UnlockStart? = nil
    ) async throws(VaultError) {
        let begun = begun ?? context.locks.now
        let secret = Handoff(secret)
        await waitUntilSettled()
        switch phase {
        case .unlocked, .unlocking: return
        case .deleted: throw VaultError.collectionDeleted
        case .retired: throw VaultError.collectionRetired
        case .unreadable(let reason): throw VaultError(.unreadable, reason: reason)
        case .vacant, .locked: break
        }
        guard keySlots.contains(where: { slot in slot.kind == .securityKey }) else {
            throw VaultError(.noSuchKeySlot, reason: "the collection has no key slot for a security key")
        }
        try await settle(to: .locked, begun) { () async throws(VaultError) in try await open(.securityKey(secret)) }
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

    /// Wipes the secrets key and keeps labels and attributes readable; does nothing to the collection in memory.
    ///
    /// A running write is finished and acknowledged; waiting changes fail with `locked`. So do unlocks that have begun,
    /// even if their password is not here yet.
    package func lock() {
        guard !isEphemeral else { return }
        context.locks.note(name)
        stop()
    }

    private func stop() {
        switch phase {
        case .unlocking: phase = .unlocking(isLockRequested: true)
        case .unlocked: lockNow()
        case .vacant, .locked, .unreadable, .deleted, .retired: break
        }
    }

    private func lockNow() {
        if case .file(let worker) = storage { worker.post { writer in writer.lock() } }
        phase = .locked
        failWaiting(VaultError(.locked, reason: "the collection was locked"))
    }

    /// Closes the file after the running write.
    func close() async {
        // No lock: another object may be about to take over the keys, or have this name already.
        stop()
        await waitUntilSettled()
        guard case .file(let worker) = storage else { return }
        storage = .none
        recordLastChange(of: worker)
        worker.post { writer in writer.close() }
        await worker.stop()
    }

    func removeFile(by deletion: FileDeletion) async throws(VaultError) {
        guard case .file(let worker) = storage else {
            throw VaultError(.notSupported, reason: "the collection has no file")
        }
        do throws(VaultError) {
            try await worker.perform { (writer) throws(VaultError) in try writer.remove(by: deletion) }
        } catch {
            // Its file is whole: a refused deletion is no problem of the collection.
            if error.code == .displaced { noteFailure(error) }
            throw error
        }
        storage = .none
        if let identifier = header?.identifier {
            context.folderWorker.post { folder in folder.forgetLastChange(of: identifier) }
        }
        end()
        await worker.stop()
    }

    /// Ends a collection whose file is missing.
    func forgetFile() async {
        await close()
        end()
    }

    private func end() {
        phase = .deleted
        context.locks.forget(name)
        failWaiting(VaultError.collectionDeleted)
        table = ItemTable()
    }

    private func waitUntilSettled() async {
        while case .unlocking = phase {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                onSettled { continuation.resume() }
            }
        }
    }

    private func settle(
        to fallback: CollectionPhase,
        _ begun: UnlockStart,
        by attempt: () async throws(VaultError) -> UnlockedKeys
    ) async throws(VaultError) {
        guard !context.locks.contain(name, since: begun) else { throw VaultError.lockedMeanwhile }
        phase = .unlocking(isLockRequested: false)
        do throws(VaultError) {
            let keys = try await attempt()
            guard case .unlocking(let isLockRequested) = phase else { throw VaultError.collectionDeleted }
            if isLockRequested || context.locks.contain(name, since: begun) {
                if case .file(let worker) = storage { worker.post { writer in writer.lock() } }
                throw VaultError.lockedMeanwhile
            }
            if name == .login { adoptAuditKey(keys.collection) }
            unlockedBy = keys.openedBy
            phase = .unlocked(keys.secrets)
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
        let early = earlyUnlock.take()
        if self.keys == nil {
            // Nothing of this needs the key, so it is done while that is derived.
            worker.post { writer in
                writer.readAhead()
                writer.checkStructure()
            }
        }
        let keys: UnlockedKeys
        do throws(VaultError) {
            keys = try await context.derivations.perform { () throws(VaultError) in
                if let keys = early?.take(for: key, header) { return try keys.get() }
                return try UnlockedKeys.unlock(header, with: key)
            }
        } catch {
            worker.post { writer in writer.ahead = nil }
            throw error
        }
        if self.keys != nil {
            worker.post { writer in writer.unlock(keys.secrets) }
            return keys
        }
        let known = table
        let contents = try await worker.perform { (writer) throws(VaultError) in
            try writer.load(keys.collection, keys.secrets, into: known)
        } afterwards: { writer in
            writer.ahead = nil
        }
        let ledger = await storedLedger(keys.collection)
        let lastChange = await recordedLastChange()
        if let own = lastChange?.own { vaultNumber = own.vault }
        table = contents.table
        problems = contents.problems
        condition = contents.condition
        if let failure = contents.failure { disk = .unread(failure) }
        if let sealed = contents.sealedState {
            properties = sealed
            if let lastChange { noticeMissingChanges(until: lastChange) }
        }
        isWhole = contents.isWhole
        try adopt(ledger, isWhole: contents.isWhole, state: contents.sealedState, keys.collection)
        self.keys = keys.collection
        for problem in problems { context.configuration.logger.error("\(name): \(problem)") }
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
            } afterwards: { writer in
                writer.restIfTooMany()
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

    private func newWorker() throws(VaultError) -> Worker<CollectionWriter> {
        let writer = CollectionWriter(
            name,
            in: context.folder,
            configuration: context.configuration,
            indexKey: context.indexKey,
            openFiles: context.openFiles
        )
        return try Worker(name.encoded, writer, idleMilliseconds: context.configuration.idleMilliseconds) { writer in
            writer.rest()
        }
    }

    private func adoptAuditKey(_ keys: CollectionKeys) {
        do throws(VaultError) {
            context.audit.key = try AuditKey(keys)
            context.folderWorker.post { folder in folder.writeAudit() }
        } catch {
            context.configuration.logger.error("The audit cannot be written: \(error)")
        }
    }
}

extension Collection {
    /// Opens the collection's file; a failure makes the collection unreadable.
    ///
    /// - Parameters:
    ///   - early: an unlock that begins meanwhile.
    ///   - recorded: the file that the collection had before.
    func openFile(for early: EarlyUnlock? = nil, recorded: KnownCollection? = nil) async {
        let logger = context.configuration.logger
        let derivations = context.derivations
        earlyUnlock = early
        self.recorded = recorded
        do throws(VaultError) {
            let worker = try newWorker()
            let contents = try await worker.perform { (writer) throws(VaultError) in
                guard let early else { return try writer.open() }
                return try writer.open { header in early.begin(with: header, on: derivations) }
            } afterwards: { writer in
                writer.restIfTooMany()
            }
            header = contents.header
            table = contents.table
            properties.label = contents.header.label
            properties.created = contents.header.created
            properties.modified = contents.header.modified
            storage = .file(worker)
            if let obstacle = contents.obstacle { disk = .readOnly(obstacle) }
            if let damage = contents.damage {
                condition = .incomplete
                problems.append(Self.damaged(damage))
                if damage.isTriedAgain { disk = .unread(damage) }
            }
            if let problem = contents.header.problem {
                if condition == .sound { condition = .damaged }
                problems.append(problem)
            }
            if contents.tagsAreStale {
                problems.append(
                    "the search index was made with another key: searches find nothing until the collection is unlocked"
                )
            }
            noticeOtherHeader()
            for problem in problems + [replacement?.problem].compactMap(\.self) {
                logger.warning("\(name): \(problem)")
            }
        } catch {
            let isThere = (try? context.folder.exists(name.fileName)) ?? true
            let reason = isThere ? error.reason : Self.reasonOfAbsence(name)
            storage = isThere ? .none : .missing
            phase = .unreadable(reason: reason)
            problems = [reason]
            if isThere, error.isTriedAgain { disk = .unread(error) }
            if isThere, error.code == .unreadable { condition = .damaged }
            logger.error(
                """
                \(name): the collection cannot be read and is left as it is: \(reason). Generations are in \
                \(context.folder.folder(Generations.folderName).path)
                """
            )
        }
    }

    private static func damaged(_ error: VaultError) -> String {
        "the file is damaged: \(error.reason). What is intact is read, and nothing is changed; the list may be incomplete"
    }

    /// Closes a file that is a copy of another collection.
    func close(asCopyOf other: CollectionName) async {
        await close()
        let reason = "it is a copy of \(other); move one of the two files out of the folder"
        phase = .unreadable(reason: reason)
        problems = [reason]
        condition = .sound
        replacement = nil
        header = nil
        table = ItemTable()
        context.configuration.logger.error("\(name): the collection is left as it is: \(reason)")
    }
}
