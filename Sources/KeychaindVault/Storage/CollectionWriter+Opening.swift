import KeychaindModel

/// Opening a collection's file, locked.
extension CollectionWriter {
    struct LockedContents: Sendable {
        var header: CollectionHeader
        var table: ItemTable
        /// Whether another index key made the tags, so that searches find nothing.
        var tagsAreStale: Bool
        /// Why the file cannot be written.
        var obstacle: VaultError?
        /// Why the file is damaged, if it was read page by page.
        var damage: VaultError?
    }

    /// Opens the file; of a damaged one, what can be read.
    ///
    /// - Parameter onHeader: called with the header as soon as it is read.
    func open(_ onHeader: (CollectionHeader) -> Void = { _ in }) throws(VaultError) -> LockedContents {
        do throws(VaultError) {
            let isFinal = { (contents: LockedContents) in contents.obstacle?.mayPass != true }
            return try retryingRead(until: isFinal) { (_) throws(VaultError) in try openSound(onHeader) }
        } catch {
            guard error.leavesRemains else { throw error }
            let remains = try openRemains(after: error)
            var contents = try lockedContents(of: remains, reserving: remains.itemCount)
            contents.damage = error
            return contents
        }
    }

    private func openSound(_ onHeader: (CollectionHeader) -> Void) throws(VaultError) -> LockedContents {
        let file = try reopenFile()
        let header = try file.header()
        self.header = header
        onHeader(header)
        var contents = try lockedContents(of: file, reserving: expectedItems(in: file))
        contents.obstacle = file.obstacle
        file.releaseMemory()
        return contents
    }

    /// The number of items to reserve memory for: the highest ID, which may be forged, as far as the file has room.
    private func expectedItems(in file: CollectionFile) throws(VaultError) -> Int {
        let room = try folder.size(of: name.fileName) / CollectionFormat.leastItemSize
        return min(max(0, try file.highestItem()), room, configuration.limits.items)
    }

    /// Reads a damaged file page by page; throws its error if there is no key slot, here or in a generation.
    func openRemains(after error: VaultError) throws(VaultError) -> FileRemains {
        // Two descriptors of one process would lose each other's locks.
        file = nil
        guard let remains = try? FileRemains(of: name.fileName, in: folder),
            let header = try remains.header(orFrom: Generations(of: name, in: folder, keeping: 0)) ?? header
        else { throw error }
        self.remains = remains
        self.header = header
        changes = .refused(
            VaultError(.unreadable, reason: "the file is damaged, so nothing is changed in it: \(error.reason)")
        )
        return remains
    }

    private func lockedContents(
        of source: any CollectionSource,
        reserving items: Int
    ) throws(VaultError) -> LockedContents {
        guard let header else { throw VaultError.vaultClosed }
        let tagsAreStale = header.indexKey != indexKey.fingerprint
        var table = ItemTable()
        table.reserve(items: items)
        try source.forEachTags { id, revision, tags in
            guard let id = UInt64(exactly: id).flatMap(ItemID.init(rawValue:)) else { return }
            let record = ItemRecord(id: id, revision: revision)
            if tagsAreStale {
                table.append(record, tags: EmptyCollection())
            } else {
                table.append(record, tags: StoredTags(tags))
            }
        }
        return LockedContents(header: header, table: table, tagsAreStale: tagsAreStale)
    }

    /// Checks the structure of the file for damage that reading may miss and writing could spread.
    func checkStructure() {
        guard case .unchecked = changes, file != nil || resting != nil else { return }
        changes = .accepted
        do throws(VaultError) {
            let damage = try retryingRead(until: { damage in damage == nil }) { (isAgain) throws(VaultError) in
                try (isAgain ? reopenFile() : openedFile()).structuralDamage()
            }
            guard let damage else { return }
            changes = .refused(VaultError(.unreadable, reason: "the file is damaged and cannot be changed: \(damage)"))
        } catch {
            // A check that the disk has failed is made again before the next change.
            let reason = "the file cannot be checked for damage, so it cannot be changed: \(error.reason)"
            changes =
                error.isTriedAgain
                ? .unchecked(VaultError(error.code, reason: reason)) : .refused(VaultError(.unreadable, reason: reason))
        }
    }
}

extension VaultError {
    /// Whether other parts of the file may be readable: a page is damaged, or the disk does not return it.
    var leavesRemains: Bool { code == .unreadable || code == .storageFailed }
}
