import KeychaindGcrypt
import KeychaindLog
import KeychaindModel
import Logging

/// A collection's file on its worker thread, with the keys to seal what is written.
///
/// The collection in memory is changed only after a method here has returned, when the disk has the change.
final class CollectionWriter {
    let folder: Folder
    let name: CollectionName
    let configuration: VaultConfiguration
    let indexKey: BlindIndexKey

    /// Nil before the file is opened, and if it could not be opened again.
    private var log: CollectionLog?

    /// Where the file was left, to recognise it.
    private var position: LogPosition?

    /// The reason why the file cannot be written.
    private var obstacle: VaultError?

    private var header: CollectionHeader?
    private var keys: CollectionKeys?
    private var secretsKey: SecretsKey?
    private(set) var state: CollectionState?
    var compaction = CompactionPlan()

    init(
        _ name: CollectionName,
        in folder: Folder,
        configuration: VaultConfiguration,
        indexKey: BlindIndexKey
    ) {
        self.name = name
        self.folder = folder
        self.configuration = configuration
        self.indexKey = indexKey
    }

    private var path: String { folder.file(name.fileName) }

    /// Throws `busy` if another file has the name.
    func create(
        _ header: CollectionHeader,
        keys: CollectionKeys,
        secretsKey: SecretsKey
    ) throws(VaultError) -> CollectionState {
        let state = CollectionState(created: header.created, modified: header.modified, label: header.label)
        log = try CollectionLog.create(path, header, state, keys, configuration)
        position = log?.records.position
        (self.header, self.keys, self.secretsKey, self.state) = (header, keys, secretsKey, state)
        return state
    }

    // MARK: Opening

    struct LockedContents: Sendable {
        var header: CollectionHeader
        var table: ItemTable
        /// Whether another index key made the tags, so that searches find nothing.
        var tagsAreStale: Bool
        /// Why the file cannot be written.
        var obstacle: VaultError?
        /// What is damaged, in words.
        var damage: [String]
    }

    /// Opens the file, locked.
    ///
    /// - Parameter known: a sequence that the file has had.
    func open(known: UInt64) throws(VaultError) -> LockedContents {
        try retryingRead(until: { contents in contents.obstacle?.mayPass != true }) { (_) throws(VaultError) in
            log = nil
            let log = try openLog(known: known)
            let header = try log.header()
            self.header = header
            let tagsAreStale = header.indexKey != indexKey.fingerprint
            return LockedContents(
                header: header,
                table: try log.lockedItems(tagsAreStale: tagsAreStale),
                tagsAreStale: tagsAreStale,
                obstacle: obstacle,
                damage: log.damage
            )
        }
    }

    private func openLog(known: UInt64) throws(VaultError) -> CollectionLog {
        obstacle = nil
        let opened: CollectionLog
        do throws(VaultError) {
            opened = try CollectionLog(path, known: known, configuration)
        } catch {
            guard error.code == .readOnly || error.code == .busy else { throw error }
            opened = try CollectionLog(path, known: known, readOnly: true, configuration)
            obstacle = error
        }
        log = opened
        position = opened.records.position
        return opened
    }

    private var displaced: VaultError {
        VaultError(.displaced, reason: "another program has replaced or changed \(name.fileName); nothing was stored")
    }

    private func readableLog() throws(VaultError) -> CollectionLog {
        if let log { return log }
        return try reopenedLog()
    }

    private func writableLog() throws(VaultError) -> CollectionLog {
        // No reference may stay here: the lock of the former log would keep the new one out.
        let isDisplaced = try isDisplaced()
        let log = try isDisplaced ? reopenedLog() : readableLog()
        if let obstacle { throw obstacle }
        return log
    }

    private func isDisplaced() throws(VaultError) -> Bool {
        guard let log, obstacle == nil else { return false }
        do throws(LogError) {
            try log.records.check()
            return false
        } catch {
            guard error.code == .displaced else { throw error.asVaultError }
            return true
        }
    }

    /// Opens the file again; throws `displaced` unless it has all that was stored, and no more.
    private func reopenedLog() throws(VaultError) -> CollectionLog {
        guard let position else {
            throw VaultError(.storageFailed, reason: "the collection's file is closed")
        }
        log = nil
        guard try folder.exists(name.fileName) else { throw displaced }
        let opened: CollectionLog
        do throws(VaultError) {
            opened = try openLog(known: position.sequence)
        } catch {
            // It could be read before.
            throw error.code == .unreadable ? displaced : error
        }
        self.position = position
        guard opened.records.position == position else {
            log = nil
            throw displaced
        }
        if let keys, try !opened.check(CheckKeys(collection: keys, secrets: secretsKey)).isSound { throw displaced }
        return opened
    }

    // MARK: Keys

    func unlock(_ secretsKey: SecretsKey) { self.secretsKey = secretsKey }

    func lock() { secretsKey = nil }

    /// Throws `wrongPassword` unless the collection was sealed with these keys.
    func checkKeys(_ keys: CollectionKeys) throws(VaultError) {
        guard try readableLog().state(keys) != nil else { throw VaultError.keysOfAnotherCollection }
    }

    // MARK: Loading

    /// Reads the items with their keys.
    ///
    /// - Parameter known: the table from ``open(known:)``; its index is valid unless the tags are stale.
    func load(
        _ keys: CollectionKeys,
        _ secretsKey: SecretsKey,
        into known: ItemTable
    ) throws(VaultError) -> LoadedContents {
        guard let header else { throw VaultError.vaultClosed }
        let log = try readableLog()
        let tagsAreStale = header.indexKey != indexKey.fingerprint
        // A disk that once returns too little makes a sound file look damaged.
        var contents = try retryingRead(until: \.isWhole) { (_) throws(VaultError) in
            try log.load(
                keys,
                into: tagsAreStale ? nil : known,
                indexKey: indexKey,
                residentSecretBytes: configuration.limits.residentSecretBytes
            )
        }
        contents.position = log.records.position
        if let problem = header.problem { contents.problems.append(problem) }
        (self.keys, self.secretsKey, state) = (keys, secretsKey, contents.state)
        if tagsAreStale {
            do throws(VaultError) {
                try retag(keys)
            } catch {
                contents.problems.append("its search index could not be rebuilt: \(error.reason)")
            }
        }
        return contents
    }

    /// Stores the tags of the present index key, also of past states.
    private func retag(_ keys: CollectionKeys) throws(VaultError) {
        let log = try writableLog()
        let indexKey = indexKey
        var rewriting = Rewriting()
        rewriting.horizon = log.records.horizon
        rewriting.transform = { id, content in
            if id.item != nil {
                guard let metadata = content.metadata.withUnsafeBytes({ bytes in ItemMetadata(decoding: bytes) }),
                    let tags = try? indexKey.tags(ofItem: metadata.attributes)
                else { return }
                let revision = content.open.withUnsafeBytes { open in ItemContent.decode(open: open).revision }
                content.open = ItemContent.open(revision: revision, tags: tags)
            } else if id == .state,
                let state = content.metadata.withUnsafeBytes({ bytes in CollectionState(decoding: bytes) })
            {
                content.open = OpenState.encode(state, indexKey: indexKey.fingerprint)
            }
        }
        try rewrite(log, rewriting, keys)
        header?.indexKey = indexKey.fingerprint
    }

    // MARK: Changes

    /// Stores a change durably, and returns for each row the sealed secret to keep in memory, if any.
    ///
    /// After an error it is not stored, unless its reason says that this is unknown.
    func commit(_ change: CollectionChange) throws(VaultError) -> [[UInt8]?] {
        let log = try writableLog()
        guard let keys, let secretsKey else { throw VaultError.collectionLocked }
        defer { position = log.records.position }
        let secrets = try log.commit(
            change,
            indexKey: header?.indexKey ?? [],
            erasesPast: configuration.generations == 0,
            keys,
            secretsKey
        )
        state = change.state
        compaction.noteChange()
        let limit = configuration.limits.residentSecretBytes + SecretsKey.overhead
        return secrets.map { secret in secret.flatMap { secret in secret.count <= limit ? secret : nil } }
    }

    /// Replaces the key slots durably, and overwrites the old ones; returns the stored header instead, if they have
    /// changed since they were read.
    func replaceSlots(
        of old: CollectionHeader,
        with slots: [StoredSlot],
        _ keys: CollectionKeys
    ) throws(VaultError) -> CollectionHeader? {
        let log = try writableLog()
        guard var new = header, new.slots == old.slots else { return header }
        new.slots = slots
        new.highestSlot = slots.reduce(new.highestSlot) { highest, slot in max(highest, slot.id) }
        defer { position = log.records.position }
        try log.setSlots(new, keys)
        header = new
        return nil
    }

    /// Stores a change of nothing; throws if changes still fail as one has before.
    func tryDisk(after error: VaultError) throws(VaultError) {
        let log = try writableLog()
        if error.code == .storageFull, !folder.hasFree(bytes: 4 << 20) { throw error }
        guard let keys, let state else { return }
        defer { position = log.records.position }
        let change = CollectionLog.stateChange(state, indexKey: header?.indexKey ?? [])
        try logged { () throws(LogError) in try log.records.commit([change], keys.log) }
    }

    /// Overwrites erased contents; once a day, or when the file has grown, rewrites it without what no past day needs.
    func rest() {
        guard obstacle == nil, let keys, let log else { return }
        do throws(VaultError) {
            try logged { () throws(LogError) in try log.records.finishErasing() }
            position = log.records.position
            guard compaction.isDue(for: log.records, at: configuration.now()) else { return }
            let states = try log.pastStates(atMost: configuration.generations).map(\.sequence)
            var rewriting = Rewriting()
            (rewriting.states, rewriting.horizon) = (states, states.last)
            try rewrite(log, rewriting, keys)
            compaction.noteCompaction(of: log.records)
        } catch {
            configuration.logger.debug("\(name): the file is not rewritten: \(error)")
        }
    }

    /// Keeps a copy of the file beside it as a past one.
    func keepPast() throws(VaultError) {
        guard configuration.generations > 0 else { return }
        guard let keys else { throw VaultError.collectionLocked }
        let past = PastFiles(of: name, in: folder)
        let copy = try folder.file(past.newName(at: configuration.now()))
        let log = try readableLog()
        try logged { () throws(LogError) in _ = try log.records.copy(to: copy, Rewriting(), keys.log) }
        try past.prune(keeping: configuration.generations)
    }

    func rewrite(_ log: CollectionLog, _ rewriting: Rewriting, _ keys: CollectionKeys) throws(VaultError) {
        // The folder may not be synced yet, but the new file is in its place.
        defer { position = log.records.position }
        try logged { () throws(LogError) in _ = try log.records.rewrite(rewriting, keys.log) }
    }

    /// The sealed secret of an item in the file, opened, and the revision at which it was sealed.
    func secret(of id: ItemID, key: ItemKey?) throws(VaultError) -> StoredSecret {
        guard let keys, let secretsKey else { throw VaultError.collectionLocked }
        let (sealed, revision) = try readableLog().secret(of: id, keys)
        let secret =
            if let key {
                try secretsKey.open(sealed[...], with: key, item: id.rawValue, revision: revision)
            } else {
                try secretsKey.open(sealed[...], item: id.rawValue, revision: revision)
            }
        return StoredSecret(secret: Handoff(secret), revision: revision)
    }

    /// A secret, and which revision it is of.
    struct StoredSecret: Sendable {
        let secret: Handoff<Secret>
        let revision: UInt64
    }

    // MARK: Salvage

    /// Takes what is intact in the file, and of the rest what memory has, into a new file; the old one is kept.
    func salvage(_ table: ItemTable, _ state: CollectionState) throws(VaultError) -> SalvageReport {
        guard let keys, let secretsKey, let header else { throw VaultError.collectionLocked }
        self.log = nil
        guard try folder.exists(name.fileName) else { throw displaced }
        let log = try openLog(known: sequence)
        if let obstacle { throw obstacle }
        guard log.records.uuid == header.identifier else {
            self.log = nil
            throw displaced
        }
        let salvage = Salvage(table: table, state: state, indexKey: indexKey, header: header)
        var (rewriting, report) = try salvage.plan(log, CheckKeys(collection: keys, secrets: secretsKey))
        rewriting.isSalvage = true
        report.oldFile = try folder.keepAside(name.fileName, at: configuration.now())
        let old = log.records.position
        do throws(VaultError) {
            try rewrite(log, rewriting, keys)
        } catch {
            // The new file may be in its place all the same; the next change syncs the folder first.
            guard log.records.position != old else { throw error }
        }
        self.state = salvage.state
        self.header?.damagedSlots = 0
        return report
    }

    // MARK: The end

    /// The sequence of the last change.
    var sequence: UInt64 { position?.sequence ?? 0 }

    /// The state after the last change, and its sequence, unless the items were never read.
    var lastChange: (state: CollectionState, sequence: UInt64)? {
        guard let state, let position else { return nil }
        return (state, position.sequence)
    }

    func close() {
        rest()
        forget()
    }

    /// Deletes the file durably; ``VaultFolder/finish(_:)`` removes what is left of it.
    ///
    /// After an error the file stays in use. Throws `displaced` if another program has put a file in its place.
    func remove(by deletion: FileDeletion) throws(VaultError) {
        guard folder.isWritable else { throw VaultError(.readOnly, reason: "the data folder is read-only") }
        _ = try writableLog()
        try deletion.begin()
        forget()
    }

    private func forget() {
        (log, position, keys, secretsKey) = (nil, nil, nil, nil)
    }
}
