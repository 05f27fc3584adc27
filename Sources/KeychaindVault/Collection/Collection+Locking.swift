/// Locking, closing and the end.
extension Collection {
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
        failWaiting(VaultError.collectionWasLocked)
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

    /// Removes the file, after the running write.
    ///
    /// - Parameter limit: the most protected items that it may have, with those that are being written; nil for any.
    func removeFile(by deletion: FileDeletion, withProtectedItems limit: Int?) async throws(VaultError) {
        guard case .file(let worker) = storage else {
            throw VaultError(.notSupported, reason: "the collection has no file")
        }
        if let limit {
            let count = hasProtectedItems ? itemIDs.count { id in protection(of: id).needsAuthentication } : 0
            guard count + newlyProtectedCount <= limit else {
                throw VaultError(.busy, reason: "another item of it has been protected meanwhile")
            }
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
}
