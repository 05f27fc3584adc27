import KeychaindGcrypt
import KeychaindModel
import Logging

/// Opening and reading a collection's file.
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
    /// - Parameter unlocking: called with the header as soon as it is read, if the rows will be needed, too.
    func open(unlocking: ((CollectionHeader) -> Void)? = nil) throws(VaultError) -> LockedContents {
        do throws(VaultError) {
            let isFinal = { (contents: LockedContents) in contents.obstacle?.mayPass != true }
            return try retryingRead(until: isFinal) { (_) throws(VaultError) in try openSound(unlocking) }
        } catch {
            guard error.leavesRemains else { throw error }
            let remains = try openRemains(after: error)
            var contents = try lockedContents(of: remains, reserving: remains.itemCount)
            contents.damage = error
            return contents
        }
    }

    private func openSound(_ unlocking: ((CollectionHeader) -> Void)?) throws(VaultError) -> LockedContents {
        let file = try reopenFile()
        let header = try file.header()
        self.header = header
        unlocking?(header)
        let items = try expectedItems(in: file)
        var contents: LockedContents
        if unlocking != nil, let all = contentsWithRows(of: file, reserving: items) {
            contents = all
        } else {
            contents = try lockedContents(of: file, reserving: items)
        }
        contents.obstacle = file.obstacle
        file.releaseMemory()
        return contents
    }

    /// The number of items to reserve memory for: the highest ID, which may be forged, as far as the file has room.
    func expectedItems(in file: CollectionFile) throws(VaultError) -> Int {
        let room = try folder.size(of: name.fileName) / CollectionFormat.leastItemSize
        return min(max(0, try file.highestItem()), room, configuration.limits.items)
    }

    /// Reads a damaged file page by page; throws its error if there is no key slot, here or in a generation.
    private func openRemains(after error: VaultError) throws(VaultError) -> FileRemains {
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

    /// - Parameter table: the table from ``open()``; its index is valid unless the tags are stale.
    func load(
        _ keys: CollectionKeys,
        _ secretsKey: SecretsKey,
        into table: ItemTable
    ) throws(VaultError) -> LoadedContents {
        var contents: LoadedContents
        do throws(VaultError) {
            if let sound = openAhead(keys, into: table) {
                contents = sound
            } else {
                contents = try retryingRead(until: looksSound) { (isAgain) throws(VaultError) in
                    if isAgain, remains == nil { _ = try reopenFile() }
                    return try rows(of: source(), keys, into: remains == nil ? table : ItemTable())
                }
            }
        } catch {
            guard error.leavesRemains, remains == nil else { throw error }
            contents = try rows(of: openRemains(after: error), keys, into: ItemTable())
            contents.failure = error.isTriedAgain ? error : nil
        }
        if let problem = header?.problem { contents.problems.append(problem) }
        if var state = contents.sealedState {
            // A damaged row may have an ID that was never assigned; the next ID must be higher.
            if let above = contents.table.highestID.flatMap({ id in ItemID(rawValue: id.rawValue + 1) }) {
                state.nextItem = max(state.nextItem, above.rawValue)
            }
            contents.sealedState = state
            self.state = state
        } else if changes.refusal == nil {
            let reason = "the sealed state is damaged, so the collection cannot be changed"
            changes = .refused(VaultError(.unreadable, reason: reason))
        }
        if let refusal = changes.refusal { contents.problems.append(refusal.reason) }
        if remains != nil {
            contents.condition = .incomplete
        } else if !contents.problems.isEmpty {
            contents.condition = .damaged
        }
        if remains == nil, header?.indexKey != indexKey.fingerprint {
            do throws(VaultError) {
                try retag(contents.table, keys: keys)
            } catch {
                contents.problems.append("its search index could not be rebuilt: \(error.reason)")
            }
        }
        self.keys = keys
        self.secretsKey = secretsKey
        file?.releaseMemory()
        return contents
    }

    private func looksSound(_ contents: LoadedContents) -> Bool {
        contents.problems.isEmpty && contents.sealedState != nil || remains != nil
    }

    private func rows(
        of source: any CollectionSource,
        _ keys: CollectionKeys,
        into table: ItemTable
    ) throws(VaultError) -> LoadedContents {
        guard let header else { throw VaultError.vaultClosed }
        let tagsAreStale = header.indexKey != indexKey.fingerprint
        var loader = try CollectionLoader(
            into: tagsAreStale ? ItemTable() : table,
            keys: keys,
            indexKey: tagsAreStale ? indexKey : nil,
            residentSecretBytes: configuration.limits.residentSecretBytes
        )
        return try loader.load(from: source)
    }

    /// Throws `wrongPassword` unless the collection was sealed with these keys.
    func checkKeys(_ keys: CollectionKeys) throws(VaultError) {
        let state = try source().state()
        // A damaged file may have lost it.
        guard remains == nil || !state.isEmpty else { return }
        try keys.check(sealedState: state)
    }

    private func retag(_ table: ItemTable, keys: CollectionKeys) throws(VaultError) {
        let file = try writableFile()
        var rows: [(id: ItemID, revision: UInt64, tags: [UInt8], metadata: [UInt8])] = []
        for id in table.ids {
            guard let record = table[id], record.condition == .intact else { continue }
            let tags = RowSealer.encode(try indexKey.tags(of: record.metadata.attributes))
            let metadata = try cipher { () throws(GcryptError) in
                try keys.seal(record.metadata, of: id, revision: record.revision, tags: tags)
            }
            rows.append((id, record.revision, tags, metadata))
        }
        let doubt = try file.retag(rows, indexKey: indexKey.fingerprint)
        header?.indexKey = indexKey.fingerprint
        if let doubt { throw doubt }
    }
}

extension VaultError {
    /// Whether other parts of the file may be readable: a page is damaged, or the disk does not return it.
    fileprivate var leavesRemains: Bool { code == .unreadable || code == .storageFailed }
}
