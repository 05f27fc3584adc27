import Logging

/// Changing a collection's file, and its journal.
extension CollectionWriter {
    /// The outcome of writing a change.
    struct Written: Sendable {
        /// The sealed secrets that stay in memory, by row.
        let sealedSecrets: [[UInt8]?]

        /// Why it is unknown whether the path leads to the file that has the change; nil if it does.
        let doubt: VaultError?
    }

    func commit(_ change: CollectionChange) throws(VaultError) -> Written {
        do throws(VaultError) {
            return try write(change)
        } catch {
            guard error.code == .storageFull, change.onlyDeletes else { throw error }
            makeRoom()
            return try write(change)
        }
    }

    /// Gives a deletion the reserve of the disk, and the journal from its beginning.
    private func makeRoom() {
        do throws(VaultError) {
            try DiskReserve(in: folder).release()
            // Such a connection holds no locks that another one could drop.
            if file?.obstacle != nil { _ = try openFile() }
            try file?.checkpoint()
        } catch {
            configuration.logger.warning("\(name): a deletion gets no room on the full disk: \(error)")
        }
    }

    private func write(_ change: CollectionChange) throws(VaultError) -> Written {
        let file = try writableFile()
        guard let keys, let secretsKey, let current = state else {
            throw VaultError.collectionLocked
        }
        var sealer = RowSealer(keys: keys, secretsKey: secretsKey, hash: current.hash)
        for row in change.rows { try sealer.add(row) }
        var next = change.state
        next.hash = sealer.hash
        let sealedState = try keys.seal(next)
        let doubt = try file.write(
            sealer.writes,
            label: next.label,
            modified: next.modified,
            state: sealedState
        )
        state = next
        let sealedSecrets = sealer.residentSecrets(upTo: configuration.limits.residentSecretBytes)
        return Written(sealedSecrets: sealedSecrets, doubt: doubt)
    }

    /// Replaces the key slots durably.
    ///
    /// The old ones are gone, or go as soon as no other program reads the file.
    func replaceSlots(
        of old: CollectionHeader,
        with slots: [KeySlot]
    ) throws(VaultError) -> CollectionFile.SlotReplacement {
        let file = try writableFile()
        let replacement = try file.replaceSlots(of: old, with: slots)
        do throws(VaultError) {
            if replacement.present == nil { try file.forgetReplaced() }
        } catch {
            configuration.logger.warning(
                "\(name): the old key slots are still on the disk, until the file is free: \(error)"
            )
        }
        return replacement
    }

    /// Stores a change of nothing; throws if changes still fail as one has before.
    func tryDisk(after error: VaultError) throws(VaultError) {
        let file = try writableFile()
        // The journal has room of its own, which says nothing about the disk.
        if error.code == .storageFull, !DiskReserve(in: folder).hasRoom { throw error }
        try file.tryDisk()
    }

    /// Prepares the journal for the next change: checkpoints a long one without waiting for a pause.
    func prepareForNextCommit() {
        guard changes.refusal == nil else { return }
        // A file that is soon closed would reserve it again.
        if !openFiles.areMany { file?.reserveJournal() }
        if file?.journalIsLong == true { checkpoint() }
    }

    /// Moves the journal into the file; a failure loses nothing, since the journal stays.
    func checkpoint() {
        guard changes.refusal == nil else { return }
        do throws(VaultError) {
            try file?.checkpoint()
        } catch {
            configuration.logger.warning("\(name): the journal could not be moved into the file and stays: \(error)")
        }
        file?.releaseMemory()
    }
}
