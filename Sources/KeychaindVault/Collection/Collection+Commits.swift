import KeychaindModel
import Logging

/// Whether a change of the collection is being written.
enum CommitPhase {
    case idle

    /// A write is running; these changes come next.
    case writing(waiting: WorkQueue<PendingMutation>)
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
        var number = 0
        if let admission {
            let bytes = mutation.toldBytes(in: table)
            number = if let begun = admission.beginAtOnce(bytes) { begun } else { await admission.begin(bytes) }
        }
        defer { admission?.end(number) }
        // As the changes that wait for a commit, also if it is unlocked again by now.
        guard !context.locks.contain(name, since: begun) else { throw VaultError.collectionWasLocked }
        if !takeTurn(), let outcome = try await turn(of: mutation) { return outcome }
        defer { resumeNext() }
        try requireUnlocked()

        var batch = newBatch()
        guard try batch.add(mutation, to: table) else {
            throw VaultError(.storageFailed, reason: "the change could not be started")
        }
        // In memory, the room that a change takes is that of its owner alone.
        if !isEphemeral { takeWaiting(into: &batch) }
        let failure = await write(batch)
        let companions = batch.mutations.dropFirst()
        guard let failure else {
            for (companion, outcome) in zip(companions, batch.outcomes.dropFirst()) {
                companion.settle(.success(outcome))
            }
            return batch.outcomes[0]
        }
        guard !companions.isEmpty else { throw failure }
        context.configuration.logger.warning(
            "\(name): \(batch.mutations.count) changes failed together and are retried one by one: \(failure)"
        )
        let own = await writeAlone(mutation)
        for companion in companions { companion.settle(await writeAlone(companion)) }
        return try own.get()
    }

    /// Runs `body` while no change is being written.
    func exclusively<Result>(
        _ body: () async throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        if !takeTurn() { _ = try await turn(of: PendingMutation(.alone)) }
        defer { resumeNext() }
        try requireUnlocked()
        return try await body()
    }

    /// Whether the caller may write now: nobody else does.
    private func takeTurn() -> Bool {
        guard case .idle = commits else { return false }
        commits = .writing(waiting: WorkQueue())
        return true
    }

    /// Waits until the caller may write; nil then, or the outcome if another caller has written the change.
    private func turn(of mutation: PendingMutation) async throws(VaultError) -> ChangeOutcome? {
        let resumption: PendingMutation.Resumption = await withCheckedContinuation { continuation in
            guard !takeTurn() else { return continuation.resume(returning: .lead) }
            mutation.continuation = continuation
            changeWaiting { waiting in waiting.add(mutation, for: mutation.owner) }
        }
        switch resumption {
        case .lead: return nil
        case .settled(let result): return try result.get()
        }
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
            if let failure = await write(batch) { return .failure(failure) }
            return .success(batch.outcomes[0])
        } catch {
            return .failure(error)
        }
    }

    /// Returns why the batch is not stored; nil if it is.
    private func write(_ batch: MutationBatch) async -> VaultError? {
        var change = batch.change
        change.state.lastChanges.note(change.state.revision, of: vaultNumber)
        newlyProtectedCount = change.rows.count { row in newlyProtects(row) }
        defer { newlyProtectedCount = 0 }
        do throws(VaultError) {
            let sealed: [[UInt8]?]
            switch storage {
            case .none, .missing:
                throw VaultError.vaultClosed
            case .memory(var store):
                // A second reference would copy the shares at every change.
                storage = .none
                defer { storage = .memory(store) }
                sealed = try store.seal(change, of: table, by: batch.mutations[0].owner)
            case .file(let worker):
                sealed = try await commit(&change, by: worker)
            }
            batch.apply(to: &table, sealedSecrets: sealed)
            newlyProtectedCount = 0
            disk = .working
            let hasNewLabel = properties.label != change.state.label
            properties = change.state
            if hasNewLabel { remember() }
            acceptReplacement()
            endRestoration(by: change)
            if ledger.hasMarks { await weakenLedger(for: change) }
            if !isEphemeral { context.observer.onChange?(name) }
            return nil
        } catch {
            noteFailure(error)
            return error
        }
    }

    private func newlyProtects(_ row: RowChange) -> Bool {
        switch row {
        case .insert(let row), .update(let row):
            row.protection.needsAuthentication && !protection(of: row.id).needsAuthentication
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
        _ change: inout CollectionChange,
        by worker: Worker<CollectionWriter>
    ) async throws(VaultError) -> [[UInt8]?] {
        let protectsItems = change.protectsItems
        let oldLedger = protectsItems ? try await strengthenLedger(for: change) : nil
        do throws(VaultError) {
            if protectsItems { try await protectPast(of: &change) }
            return try await worker.perform { [change] (writer) throws(VaultError) in try writer.commit(change) }
        } catch {
            if let oldLedger { await restoreLedger(oldLedger, after: error) }
            throw error
        }
    }

    /// Lets the past of newly protected items be overwritten, and removes them from past files, durably.
    private func protectPast(of change: inout CollectionChange) async throws(VaultError) {
        var protections: [ItemID: ItemProtection] = [:]
        for (index, row) in change.rows.enumerated() {
            guard case .update(var row) = row else { continue }
            let (old, new) = (table.protection(of: row.id), row.protection)
            guard new.needsAuthentication, !old.needsAuthentication || new.keyAlternatives != old.keyAlternatives else {
                continue
            }
            protections[row.id] = new
            row.erasesPast = true
            change.rows[index] = .update(row)
        }
        guard !protections.isEmpty, let keys else { return }
        let past = PastFiles(of: name, in: context.folder)
        let configuration = context.configuration
        try await context.copyWorker.perform { [protections] (_) throws(VaultError) in
            try past.removeUnprotected(protections, keys, configuration)
        }
    }

    /// Makes known that copies of the file are too large, or that one was made again.
    func noteCopy(failure: VaultError? = nil) {
        switch failure?.code {
        case nil: copyObstacle = nil
        case .limitExceeded?: copyObstacle = failure.map { "no new copies of it are made: \($0.reason)" }
        case .some: break
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
