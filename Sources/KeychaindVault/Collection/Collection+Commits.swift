import KeychaindModel
import Logging

/// Whether a change of the collection is being written.
enum CommitPhase {
    case idle

    /// A write is running; these changes come next.
    case writing(waiting: WorkQueue<PendingMutation>)
}

/// The outcome of writing a batch.
private enum WrittenBatch {
    case stored

    case refused(VaultError)

    /// The file in use has them, but the disk does not say whether its path still leads to it.
    case unknown(VaultError)

    /// The answer to one of the changes, which has this outcome unless the batch is refused.
    func result(_ outcome: ChangeOutcome) -> Result<ChangeOutcome, VaultError> {
        switch self {
        case .stored: .success(outcome)
        case .refused(let error): .failure(error)
        case .unknown(let doubt): .failure(doubt.afterChange(outcome))
        }
    }
}

/// Group commit. The first caller writes; callers that come meanwhile wait, and the next of them then writes as many
/// waiting changes as fit into one transaction. So sixteen callers cost two syncs.
///
/// Owners take turns, and a change that must wait for the next batch delays only those of its owner.
///
/// The bus bounds the waiting calls per caller: with one bound for all, one caller could starve the others.
extension Collection {
    /// Makes a change in its turn, unless the collection is locked before that.
    ///
    /// - Parameter begun: when the change was asked for; now if nil.
    func perform(
        _ mutation: PendingMutation,
        since begun: LockMoment? = nil
    ) async throws(VaultError) -> ChangeOutcome {
        try requireUnlocked()
        let begun = begun ?? context.locks.now
        let admission = context.observer.admission
        if isEphemeral { mutation.owner = await mutation.owner.known }
        let number = await admission?.begin(mutation.toldBytes(in: table)) ?? 0
        defer { admission?.end(number) }
        // As the changes that wait for a commit, also if it is unlocked again by now.
        guard !context.locks.contain(name, since: begun) else { throw VaultError.collectionWasLocked }
        if case .writing = commits {
            let resumption = await withCheckedContinuation { continuation in
                mutation.continuation = continuation
                changeWaiting { waiting in waiting.add(mutation, for: mutation.owner) }
            }
            if case .settled(let result) = resumption { return try result.get() }
        }
        if case .idle = commits { commits = .writing(waiting: WorkQueue()) }
        defer { resumeNext() }
        try requireUnlocked()

        var batch = newBatch()
        guard try batch.add(mutation, to: table) else {
            throw VaultError(.storageFailed, reason: "the change could not be started")
        }
        // In memory, the room that a change takes is that of its owner alone.
        if !isEphemeral { takeWaiting(into: &batch) }
        let written = await write(batch)
        let companions = batch.mutations.dropFirst()
        guard case .refused(let error) = written, !companions.isEmpty else {
            for (companion, outcome) in zip(companions, batch.outcomes.dropFirst()) {
                companion.settle(written.result(outcome))
            }
            return try written.result(batch.outcomes[0]).get()
        }
        context.configuration.logger.warning(
            "\(name): \(batch.mutations.count) changes failed together and are retried one by one: \(error)"
        )
        let own = await writeAlone(mutation)
        for companion in companions { companion.settle(await writeAlone(companion)) }
        return try own.get()
    }

    func failWaiting(_ error: VaultError) {
        let mutations = changeWaiting { waiting in waiting.takeAll() }
        for mutation in mutations ?? [] { mutation.settle(.failure(error)) }
    }

    private func requireUnlocked() throws(VaultError) {
        switch phase {
        case .unlocked: return
        case .deleted: throw VaultError.collectionDeleted
        case .retired: throw VaultError.collectionRetired
        case .unreadable(let reason): throw VaultError(.unreadable, reason: reason)
        case .vacant, .locked, .unlocking: throw VaultError.collectionLocked
        }
    }

    private func newBatch() -> MutationBatch {
        MutationBatch(
            after: properties,
            of: identifier,
            takesUnsealed: name == .login || isEphemeral,
            now: context.configuration.now(),
            limits: context.configuration.limits,
            indexKey: context.indexKey
        )
    }

    /// Adds waiting changes in turn between their owners; impossible changes fail at once.
    private func takeWaiting(into batch: inout MutationBatch) {
        changeWaiting { waiting in
            waiting.takeAll { mutation in
                do throws(VaultError) {
                    return try batch.add(mutation, to: table)
                } catch {
                    mutation.settle(.failure(error))
                    return true
                }
            }
        }
    }

    private func writeAlone(_ mutation: PendingMutation) async -> Result<ChangeOutcome, VaultError> {
        do throws(VaultError) {
            try requireUnlocked()
            var batch = newBatch()
            guard try batch.add(mutation, to: table) else {
                throw VaultError(.storageFailed, reason: "the change could not be started")
            }
            return await write(batch).result(batch.outcomes[0])
        } catch {
            return .failure(error)
        }
    }

    private func write(_ batch: MutationBatch) async -> WrittenBatch {
        var change = batch.change
        change.state.lastChanges.note(change.state.revision, of: vaultNumber)
        newlyProtectedCount = change.rows.count { row in newlyProtects(row) }
        for case .update(let row, _) in change.rows where row.secret != nil {
            secretsBeingWritten[row.id] = row.metadata.secretRevision
        }
        defer { secretsBeingWritten = [:] }
        do throws(VaultError) {
            let written: CollectionWriter.Written
            switch storage {
            case .none, .missing:
                throw VaultError.vaultClosed
            case .memory(var store):
                // A second reference would copy the shares at every change.
                storage = .none
                defer { storage = .memory(store) }
                let sealed = try store.seal(change, of: table, by: batch.mutations[0].owner)
                written = CollectionWriter.Written(sealedSecrets: sealed, doubt: nil)
            case .file(let worker):
                await keepGeneration()
                written = try await commit(change, by: worker)
            }
            // Also with a doubt: the next change is based on what the file has.
            batch.apply(to: &table, sealedSecrets: written.sealedSecrets)
            newlyProtectedCount = 0
            if written.doubt == nil { disk = .working }
            let hash = properties.hash
            let hasNewLabel = properties.label != change.state.label
            properties = change.state
            properties.hash = hash
            if hasNewLabel { remember() }
            acceptReplacement()
            endRestoration(by: change)
            await weakenLedger(for: change)
            if !isEphemeral { context.observer.onChange?(name) }
            guard let doubt = written.doubt else { return .stored }
            noteFailure(doubt)
            return .unknown(doubt)
        } catch {
            newlyProtectedCount = 0
            noteFailure(error)
            return .refused(error)
        }
    }

    private func newlyProtects(_ row: RowChange) -> Bool {
        switch row {
        case .insert(let row), .update(let row, _):
            ItemProtection(of: row.metadata.attributes).needsAuthentication
                && !protection(of: row.id).needsAuthentication
        case .delete:
            false
        }
    }

    /// Makes a failure of the disk known; a file in another's place is taken up.
    func noteFailure(_ error: VaultError) {
        switch error.code {
        case .storageFailed, .storageFull, .readOnly, .busy:
            if case .file = storage, !awaitsDisk { disk = .failing(error) }
        case .displaced: context.observer.onDisplacement?(self)
        default: break
        }
    }

    /// Writes a change to the file, after the ledger has recorded what the change protects.
    private func commit(
        _ change: CollectionChange,
        by worker: Worker<CollectionWriter>
    ) async throws(VaultError) -> CollectionWriter.Written {
        let oldLedger = try await strengthenLedger(for: change)
        do throws(VaultError) {
            try await removeFromGenerations(change)
            return try await worker.perform { (writer) throws(VaultError) in
                try writer.commit(change)
            } afterwards: { writer in
                writer.prepareForNextCommit()
                writer.restIfTooMany()
            }
        } catch {
            if let oldLedger { await restoreLedger(oldLedger, after: error) }
            throw error
        }
    }

    private func resumeNext() {
        guard let next = changeWaiting({ waiting in waiting.takeNext() }) ?? nil else {
            commits = .idle
            return
        }
        next.resume(.lead)
    }

    /// Changes the queue in place; nil when nobody writes and so nobody can wait.
    @discardableResult
    private func changeWaiting<Result>(_ change: (inout WorkQueue<PendingMutation>) -> Result) -> Result? {
        guard case .writing(var waiting) = commits else { return nil }
        // A second reference would copy the queue at every change.
        commits = .idle
        defer { commits = .writing(waiting: waiting) }
        return change(&waiting)
    }
}

extension PendingMutation {
    fileprivate func settle(_ result: Result<ChangeOutcome, VaultError>) {
        resume(.settled(result))
    }

    fileprivate func resume(_ resumption: Resumption) {
        continuation?.resume(returning: resumption)
        continuation = nil
    }
}
