import KeychaindModel
import Logging

/// Files that could not be read or written, for a cause that may pass: they are left as they are, and tried again.
extension Vault {
    /// Whether there are such files; ``readStateAgain()`` and ``readCollectionsAgain(_:)`` try them.
    package var awaitsDisk: Bool {
        guard let context else { return false }
        return context.state.obstacle != nil
            || collections.contains { collection in collection.awaitsDisk || collection.disk.failure != nil }
    }

    /// Opens the files of collections again, and tries those that have refused a change; those that still fail stay as
    /// they are.
    ///
    /// `onReplacement` is called with each collection that takes the place of another, before the next one's disk is
    /// waited for.
    package func readCollectionsAgain(_ onReplacement: (Collection) -> Void) async {
        for collection in collections where collection.awaitsDisk && !collection.isStillReadOnly {
            if let new = await openAgain(collection) { onReplacement(new) }
        }
        for collection in collections { await collection.tryDisk() }
    }

    /// Opens `state` again, if that has failed; returns whether its records have been read just now.
    package func readStateAgain() async -> Bool {
        guard let context, context.state.obstacle != nil else { return false }
        do throws(VaultError) {
            let contents = try await context.folderWorker.perform { (folder) throws(VaultError) in
                try folder.stateContents()
            }
            let own = lockouts
            adopt(contents)
            context.state.obstacle = nil
            context.configuration.logger.notice("\(StateFile.name) can be read and written again")
            // Counted while the disk failed.
            for (owner, record) in own.records where contents.lockouts[owner] != .record(record) {
                try? await setLockout(record, of: owner)
            }
            for collection in collections { await collection.readLedgerAgain() }
            context.observer.onProblem?(.login)
            return true
        } catch {
            context.state.obstacle = error
            return false
        }
    }

    private func openAgain(_ collection: Collection) async -> Collection? {
        await exclusiveWork.begin(.replacement(collection.name))
        defer { exclusiveWork.end(.replacement(collection.name)) }
        guard let context, !collection.hasEnded else { return nil }
        let new = await Self.collection(collection.name, known: collection.former, in: context)
        // The path may have led elsewhere meanwhile, as after a restore.
        guard !new.awaitsDisk, !collection.hasEnded, self.collection(named: collection.name) === collection else {
            await new.close()
            return nil
        }
        let keys = collection.handover
        await closeIfCopy(new, inPlaceOf: collection)
        guard self.collection(named: collection.name) === collection else { return nil }
        // The old one has no file that it writes to, and nobody should find it while it ends.
        replace(collection, by: new)
        await collection.retire()
        if let keys { _ = try? await new.unlock(with: keys) }
        return new
    }
}

extension Collection {
    /// Whether the file could not be opened, or only to read, for a cause that may pass.
    var awaitsDisk: Bool {
        switch disk {
        case .unread, .readOnly: true
        case .working, .failing: false
        }
    }

    /// Whether the file could be read, and still cannot be written: then there is no need to open it again.
    fileprivate var isStillReadOnly: Bool {
        guard case .readOnly(let obstacle) = disk, obstacle.code == .readOnly else { return false }
        return !context.folder.isWritable || !Folder.isWritable(context.folder.file(name.fileName))
    }

    /// Finds out whether a disk that has refused a change works again.
    fileprivate func tryDisk() async {
        guard case .file(let worker) = storage, let failure = disk.failure else { return }
        do throws(VaultError) {
            try await worker.perform { (writer) throws(VaultError) in try writer.tryDisk(after: failure) }
            // A change may have failed or worked meanwhile.
            if disk == .failing(failure) { disk = .working }
        } catch {
            if error.code == .displaced { noteFailure(error) }
        }
    }

    /// Reads the ledger that could not be read at the unlock.
    fileprivate func readLedgerAgain() async {
        guard case .unavailable = ledger, let keys, case .idle = commits else { return }
        let stored = await storedLedger(keys)
        guard case .success = stored, case .unavailable = ledger, case .idle = commits, self.keys != nil else { return }
        do throws(VaultError) {
            try adopt(stored, isWhole: isWhole, state: properties, keys)
        } catch {
            context.configuration.logger.warning("\(name): the ledger of protected items cannot be applied: \(error)")
        }
    }
}
