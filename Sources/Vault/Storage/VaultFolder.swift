import KeychainModel
import Logging

/// The folder of a vault as its worker's thread has it: the lock, and the files that belong to no collection.
final class VaultFolder {
    /// What was found in the folder.
    struct Contents: Sendable {
        /// The key of the blind index.
        var indexKey: BlindIndexKey

        /// The collections that have a file, rising.
        var names: [CollectionName]

        /// The aliases, by alias.
        var aliases: [String: CollectionName]

        /// What is known of failed authentications.
        var lockouts: StoredLockouts
    }

    private let folder: Folder
    private let logger: Logger
    private let audit: AuditTrail
    private let now: @Sendable () -> Timestamp
    private var lock: FolderLock?
    private var stateFile: Result<StateFile, VaultError> = .failure(Collection.closed)

    init(_ folder: Folder, configuration: VaultConfiguration, audit: AuditTrail) {
        self.folder = folder
        self.audit = audit
        logger = configuration.logger
        now = configuration.now
    }

    /// Takes the lock, clears away what a crash left unfinished, and reads what is there.
    func open() throws(VaultError) -> Contents {
        do throws(VaultError) {
            try folder.create()
            lock = try FolderLock(folder)
            let indexKey = try IndexKeyFile.load(from: folder, logger: logger)
            let names = try names()
            let state = StateFile.open(in: folder, logger: logger)
            stateFile = state.file
            return Contents(
                indexKey: indexKey,
                names: names,
                aliases: state.aliases.compactMapValues { encoded in CollectionName(encoded: encoded) },
                lockouts: state.lockouts
            )
        } catch {
            close()
            throw error
        }
    }

    /// Sets an alias; nil removes it.
    func setAlias(_ alias: String, to name: CollectionName?) throws(VaultError) {
        try openedState().setAlias(alias, to: name?.encoded)
    }

    /// Removes all aliases of a collection.
    func removeAliases(of name: CollectionName) throws(VaultError) {
        try openedState().removeAliases(of: name.encoded)
    }

    /// Keeps what is known of failed authentications.
    func setLockout(_ record: [UInt8], of owner: LockoutOwner) throws(VaultError) {
        try openedState().setLockout(record, of: owner)
    }

    /// The sealed ledger of the collection with an identifier; nil if there is none.
    func ledger(of identifier: [UInt8]) throws(VaultError) -> [UInt8]? {
        try openedState().ledger(of: identifier)
    }

    /// Keeps the sealed ledger of the collection with an identifier.
    func setLedger(_ ledger: [UInt8], of identifier: [UInt8]) throws(VaultError) {
        try openedState().setLedger(ledger, of: identifier)
    }

    /// Moves a long journal into the file.
    func shortenJournal() {
        guard folder.size(of: StateFile.name + "-wal") > 1 << 20, case .success(let file) = stateFile else { return }
        do throws(VaultError) {
            try file.checkpoint()
        } catch {
            logger.warning("\(StateFile.name): the journal stays for now: \(error)")
        }
    }

    /// Removes what is known of failed authentications.
    func removeLockouts(of owners: [LockoutOwner]) {
        do throws(VaultError) {
            try openedState().removeLockouts(of: owners)
        } catch {
            // They count on after the next start, which costs time and lets nobody in.
            logger.warning("Records of failed attempts stay on the disk: \(error)")
        }
    }

    /// Writes the entries of the audit that wait.
    func writeAudit() {
        guard case .success(let file) = stateFile, file.isWritable, let batch = audit.take(at: now()) else { return }
        do throws(VaultError) {
            try file.appendAudit(batch.entries.map(\.ring)) { (index, number) throws(VaultError) in
                try batch.key.seal(batch.entries[index].entry, number: number)
            }
        } catch {
            audit.lose(batch.entries)
            logger.warning("\(batch.entries.count) entries of the audit are lost: \(error)")
        }
    }

    /// Writes the entries of the audit that wait, if they are many.
    func writeAuditIfLong() {
        if audit.isLong { writeAudit() }
    }

    /// The entries of the audit, the newest first, those that wait among them.
    func auditEntries(since: Timestamp?, limit: Int) throws(VaultError) -> [AuditEntry] {
        writeAudit()
        guard limit > 0, let key = audit.key else { return [] }
        let earliest = since?.microsecondsSinceEpoch ?? .min
        var entries = audit.waiting.reversed().filter { entry in entry.time.microsecondsSinceEpoch >= earliest }
        entries = Array(entries.prefix(limit))
        guard case .success(let file) = stateFile else { return entries }
        try file.forEachAudit { number, row in
            guard entries.count < limit else { return false }
            // Clocks are set back, too: an early entry does not mean that all before it are earlier.
            if let entry = key.open(row, number: number), entry.time.microsecondsSinceEpoch >= earliest {
                entries.append(entry)
            }
            return true
        }
        return entries
    }

    /// Closes the files, and gives the lock back.
    func close() {
        writeAudit()
        do throws(VaultError) {
            if case .success(let file) = stateFile { try file.finish() }
        } catch {
            logger.warning("\(StateFile.name): the journal stays for now: \(error)")
        }
        stateFile = .failure(Collection.closed)
        lock = nil
    }

    private func openedState() throws(VaultError) -> StateFile {
        if case .failure(let error) = stateFile, error.code == .storageFull {
            // There may be room by now.
            stateFile = StateFile.open(in: folder, logger: logger).file
        }
        return try stateFile.get()
    }

    private func names() throws(VaultError) -> [CollectionName] {
        var names: [CollectionName] = []
        for file in try folder.names() {
            if isUnfinished(file) {
                try? folder.remove(file)
            } else if file.hasSuffix(CollectionFormat.suffix) {
                let stem = file.dropLast(CollectionFormat.suffix.count)
                if let name = CollectionName(encoded: stem), name != .session {
                    names.append(name)
                } else {
                    logger.warning("\(file) is left alone: its name is not that of a collection")
                }
            }
        }
        return names
    }

    /// Whether a file is what a crash left of one that was being made: there is nothing of worth in it.
    private func isUnfinished(_ file: String) -> Bool {
        let suffix = CollectionFormat.unfinishedSuffix
        return folder.isWritable && (file.hasSuffix(suffix) || file.hasSuffix(suffix + "-journal"))
    }
}
