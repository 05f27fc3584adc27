import KeychaindGcrypt
import KeychaindModel
import Logging

/// A collection's file on its worker thread, with the keys to seal rows.
///
/// The collection in memory is changed only after a method here has returned, when the disk has the change.
final class CollectionWriter {
    struct LockedContents: Sendable {
        var header: CollectionHeader
        var table: ItemTable
        // Whether another index key made the tags, so that searches find nothing.
        var tagsAreStale: Bool
        // Why the file cannot be written, if that may pass.
        var passingObstacle: VaultError?
        // Why the file is damaged, if it was read page by page.
        var damage: VaultError?
    }

    // The most items to reserve memory for in advance, based on the highest ID.
    private static let reservedItems = 16_384

    private let folder: Folder
    private let name: CollectionName
    private let configuration: VaultConfiguration
    private let indexKey: BlindIndexKey
    private let openFiles: OpenFiles

    private var file: CollectionFile? {
        didSet {
            if oldValue != nil { openFiles.closed() }
            if file != nil { openFiles.opened() }
        }
    }
    /// What the file had when it was closed, until it is opened again.
    private var resting: RestingFile?
    // A damaged file, which is only read.
    private var remains: FileRemains?
    private var header: CollectionHeader?
    private var keys: CollectionKeys?
    private var secretsKey: SecretsKey?
    private var state: CollectionState?

    private var changes = Changes.unchecked(nil)

    private enum Changes {
        /// The structure of the file must be checked for damage first; with the failure of the last attempt.
        case unchecked(VaultError?)
        case accepted
        case refused(VaultError)

        var refusal: VaultError? {
            if case .refused(let error) = self { error } else { nil }
        }
    }

    init(
        _ name: CollectionName,
        in folder: Folder,
        configuration: VaultConfiguration,
        indexKey: BlindIndexKey,
        openFiles: OpenFiles
    ) {
        self.name = name
        self.openFiles = openFiles
        self.folder = folder
        self.configuration = configuration
        self.indexKey = indexKey
    }

    deinit {
        if file != nil { openFiles.closed() }
    }

    /// Opens the file; of a damaged one, what can be read.
    func open() throws(VaultError) -> LockedContents {
        do throws(VaultError) {
            let file = try openFile()
            header = try file.header()
            let items = min(max(0, try file.highestItem()), Self.reservedItems)
            var contents = try lockedContents(of: file, reserving: items)
            contents.passingObstacle = file.passingObstacle
            file.releaseMemory()
            return contents
        } catch {
            guard error.leavesRemains else { throw error }
            let remains = try openRemains(after: error)
            var contents = try lockedContents(of: remains, reserving: remains.itemCount)
            contents.damage = error
            return contents
        }
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

    func create(
        _ header: CollectionHeader,
        keys: CollectionKeys,
        secretsKey: SecretsKey
    ) throws(VaultError) -> CollectionState {
        let state = CollectionState(created: header.created, modified: header.modified, label: header.label)
        let sealed = try keys.seal(state)
        try CollectionFile.create(name, in: folder, header: header, state: sealed)
        do throws(VaultError) {
            if let obstacle = try openFile().obstacle { throw obstacle }
        } catch {
            file = nil
            try folder.withdraw(name.fileName, after: error)
        }
        self.header = header
        self.keys = keys
        self.secretsKey = secretsKey
        self.state = state
        changes = .accepted
        return state
    }

    /// Checks the structure of the file for damage that reading may miss and writing could spread.
    func checkStructure() {
        guard case .unchecked = changes, file != nil || resting != nil else { return }
        changes = .accepted
        do throws(VaultError) {
            guard let damage = try openedFile().structuralDamage() else { return }
            changes = .refused(VaultError(.unreadable, reason: "the file is damaged and cannot be changed: \(damage)"))
        } catch {
            // A check that the disk has failed is made again before the next change.
            let reason = "the file cannot be checked for damage, so it cannot be changed: \(error.reason)"
            changes =
                error.mayPass
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
            contents = try retryingRead { () throws(VaultError) in
                try rows(of: source(), keys, into: remains == nil ? table : ItemTable())
            }
        } catch {
            guard error.leavesRemains, remains == nil else { throw error }
            contents = try rows(of: openRemains(after: error), keys, into: ItemTable())
            contents.failure = error.mayPass ? error : nil
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

    private func rows(
        of source: any CollectionSource,
        _ keys: CollectionKeys,
        into table: ItemTable
    ) throws(VaultError) -> LoadedContents {
        guard let header else { throw VaultError.vaultClosed }
        let tagsAreStale = header.indexKey != indexKey.fingerprint
        var loader = CollectionLoader(
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

    func unlock(_ secretsKey: SecretsKey) {
        self.secretsKey = secretsKey
    }

    func lock() {
        secretsKey = nil
    }

    func commit(_ change: CollectionChange) throws(VaultError) -> [[UInt8]?] {
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

    private func write(_ change: CollectionChange) throws(VaultError) -> [[UInt8]?] {
        let file = try writableFile()
        guard let keys, let secretsKey, let current = state else {
            throw VaultError.collectionLocked
        }
        var sealer = RowSealer(keys: keys, secretsKey: secretsKey, hash: current.hash)
        for row in change.rows { try sealer.add(row) }
        var next = change.state
        next.hash = sealer.hash
        let sealedState = try keys.seal(next)
        try file.write(
            sealer.writes,
            label: next.label,
            modified: next.modified,
            state: sealedState,
            version: sealer.neededVersion
        )
        state = next
        return sealer.residentSecrets(upTo: configuration.limits.residentSecretBytes)
    }

    func secret(of id: ItemID, key: ItemKey?, revision: UInt64) throws(VaultError) -> Handoff<Secret> {
        guard let secretsKey else { throw VaultError.collectionLocked }
        let sealed = try source().secret(of: id)
        guard let key else { return Handoff(try secretsKey.open(sealed, item: id.rawValue, revision: revision)) }
        return Handoff(try secretsKey.open(sealed, with: key, item: id.rawValue, revision: revision))
    }

    /// Replaces the key slots durably; returns the stored header instead if they changed since they were read.
    ///
    /// The old ones are gone, or go as soon as no other program reads the file.
    func replaceSlots(of old: CollectionHeader, with slots: [KeySlot]) throws(VaultError) -> CollectionHeader? {
        let file = try writableFile()
        let present = try file.replaceSlots(of: old, with: slots)
        do throws(VaultError) {
            if present == nil { try file.forgetReplaced() }
        } catch {
            configuration.logger.warning(
                "\(name): the old key slots are still on the disk, until the file is free: \(error)"
            )
        }
        return present
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

    /// Stores a change of nothing; throws if changes still fail as one has before.
    func tryDisk(after error: VaultError) throws(VaultError) {
        let file = try writableFile()
        // The journal has room of its own, which says nothing about the disk.
        if error.code == .storageFull, !DiskReserve(in: folder).hasRoom { throw error }
        try file.tryDisk()
    }

    /// Moves the journal into the file in a pause, and closes the file if many are open.
    func rest() {
        checkpoint()
        if openFiles.areMany { closeForNow() }
    }

    /// Closes the file without a pause, so that descriptors are bounded while all collections have work.
    func restIfTooMany() {
        if openFiles.areTooMany { closeForNow() }
    }

    /// Closes the file until it is needed, if nothing would be lost; otherwise it stays open.
    private func closeForNow() {
        guard let file, file.obstacle == nil else { return }
        do throws(VaultError) {
            try file.database.confirm()
            let contents = try RestingFile(file)
            try file.finish(isSound: changes.refusal == nil && state != nil)
            resting = contents
            self.file = nil
        } catch {
            configuration.logger.debug("\(name): the file stays open: \(error)")
        }
    }

    func close() {
        do throws(VaultError) {
            try file?.finish(isSound: changes.refusal == nil && state != nil)
        } catch {
            configuration.logger.warning("\(name): the journal could not be moved into the file and stays: \(error)")
        }
        file = nil
        remains = nil
        resting = nil
        keys = nil
        secretsKey = nil
    }

    /// Deletes the file durably; ``VaultFolder/finishDeletion(of:)`` removes what is left of it.
    ///
    /// After an error the file stays in use. Throws `displaced` if another program has put a file in its place.
    func remove() throws(VaultError) {
        guard folder.isWritable else { throw VaultError(.readOnly, reason: "the data folder is read-only") }
        if resting != nil { _ = try openedFile() }
        try file?.checkPlace()
        try FileDeletion(of: name, in: folder).begin()
        file = nil
        remains = nil
        resting = nil
        keys = nil
        secretsKey = nil
    }

    private func openFile() throws(VaultError) -> CollectionFile {
        let file = try CollectionFile(
            name.fileName,
            in: folder,
            limits: configuration.limits,
            maximumPages: configuration.maximumPages
        )
        self.file = file
        return file
    }

    private func openedFile() throws(VaultError) -> CollectionFile {
        if let file { return file }
        guard let contents = resting else {
            throw VaultError(.storageFailed, reason: "the collection's file is closed")
        }
        guard folder.contains(name.fileName) else { throw displaced }
        do throws(VaultError) {
            let file = try openFile()
            guard try RestingFile(file) == contents else { throw displaced }
            resting = nil
            return file
        } catch {
            file = nil
            throw error
        }
    }

    private var displaced: VaultError {
        VaultError(.displaced, reason: "another program has replaced or removed \(name.fileName); nothing was stored")
    }

    private func source() throws(VaultError) -> any CollectionSource {
        if let remains { return remains }
        return try openedFile()
    }

    private func writableFile() throws(VaultError) -> CollectionFile {
        if remains != nil, let refusal = changes.refusal { throw refusal }
        let file = try openedFile()
        if case .unchecked(.some) = changes { checkStructure() }
        if case .unchecked(let failure?) = changes { throw failure }
        if let refusal = changes.refusal { throw refusal }
        if let obstacle = file.obstacle { throw obstacle }
        return file
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
        try file.retag(rows, indexKey: indexKey.fingerprint)
        header?.indexKey = indexKey.fingerprint
    }
}

extension VaultError {
    /// Whether other parts of the file may be readable: a page is damaged, or the disk does not return it.
    fileprivate var leavesRemains: Bool { code == .unreadable || code == .storageFailed }
}
