import KeychaindModel
import Logging

/// The vault's folder on its worker thread: the lock, and the files that belong to no collection.
final class VaultFolder {
    struct Contents: Sendable {
        var indexKey: BlindIndexKey
        var names: [CollectionName]
        var aliases: [String: CollectionName]
        var lockouts: StoredLockouts
        var rules: RulesFile.Content
    }

    private let folder: Folder
    private let logger: Logger
    private let audit: AuditTrail
    private let now: @Sendable () -> Timestamp
    private var lock: FolderLock?
    private var stateFile: Result<StateFile, VaultError> = .failure(VaultError.vaultClosed)

    init(_ folder: Folder, configuration: VaultConfiguration, audit: AuditTrail) {
        self.folder = folder
        self.audit = audit
        logger = configuration.logger
        now = configuration.now
    }

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
                lockouts: state.lockouts,
                rules: RulesFile.load(from: folder)
            )
        } catch {
            close()
            throw error
        }
    }

    func setAlias(_ alias: String, to name: CollectionName?) throws(VaultError) {
        try openedState().setAlias(alias, to: name?.encoded)
    }

    func removeAliases(of name: CollectionName) throws(VaultError) {
        try openedState().removeAliases(of: name.encoded)
    }

    func setLockout(_ record: [UInt8], of owner: LockoutOwner) throws(VaultError) {
        try openedState().setLockout(record, of: owner)
    }

    func toldCause(of subject: String) throws(VaultError) -> [UInt8]? {
        try openedState().toldCause(of: subject)
    }

    func setToldCause(_ cause: [UInt8]?, of subject: String) throws(VaultError) {
        try openedState().setToldCause(cause, of: subject)
    }

    func ledger(of identifier: [UInt8]) throws(VaultError) -> [UInt8]? {
        try openedState().ledger(of: identifier)
    }

    func setLedger(_ ledger: [UInt8], of identifier: [UInt8]) throws(VaultError) {
        try openedState().setLedger(ledger, of: identifier)
    }

    func contains(_ name: String) -> Bool { folder.contains(name) }

    func writeRules(_ sealed: [UInt8], collection: [UInt8]) throws(VaultError) {
        try RulesFile.write(sealed, collection: collection, to: folder)
    }

    func setRulesAside() throws(VaultError) {
        try RulesFile.setAside(in: folder)
    }

    func shortenJournal() {
        guard folder.size(of: StateFile.name + "-wal") > 1 << 20, case .success(let file) = stateFile else { return }
        do throws(VaultError) {
            try file.checkpoint()
        } catch {
            logger.warning("\(StateFile.name): the journal could not be moved into the file and stays: \(error)")
        }
    }

    func removeLockouts(of owners: [LockoutOwner]) {
        do throws(VaultError) {
            try openedState().removeLockouts(of: owners)
        } catch {
            // They count again after the next start, which only costs time.
            logger.warning("Records of failed attempts could not be removed from the disk: \(error)")
        }
    }

    func writeAudit() {
        guard case .success(let file) = stateFile, file.isWritable, let batch = audit.take(at: now()) else { return }
        do throws(VaultError) {
            try file.appendAudit(batch.entries.map(\.ring)) { (index, number) throws(VaultError) in
                try batch.key.seal(batch.entries[index].entry, number: number)
            }
        } catch {
            audit.lose(batch.entries)
            logger.warning("\(batch.entries.count) audit entries are lost: \(error)")
        }
    }

    func writeAuditIfLong() {
        if audit.isLong { writeAudit() }
    }

    /// Returns the audit entries, newest first, pending ones included.
    func auditEntries(since: Timestamp?, limit: Int) throws(VaultError) -> [AuditEntry] {
        writeAudit()
        guard limit > 0, let key = audit.key else { return [] }
        let earliest = since?.microsecondsSinceEpoch ?? .min
        var entries = audit.waiting.reversed().filter { entry in entry.time.microsecondsSinceEpoch >= earliest }
        entries = Array(entries.prefix(limit))
        guard case .success(let file) = stateFile else { return entries }
        try file.forEachAudit { number, row in
            guard entries.count < limit else { return false }
            // The clock may have been set back, so times need not be ordered.
            if let entry = key.open(row, number: number), entry.time.microsecondsSinceEpoch >= earliest {
                entries.append(entry)
            }
            return true
        }
        return entries
    }

    func close() {
        writeAudit()
        do throws(VaultError) {
            if case .success(let file) = stateFile { try file.finish() }
        } catch {
            logger.warning("\(StateFile.name): the journal could not be moved into the file and stays: \(error)")
        }
        stateFile = .failure(VaultError.vaultClosed)
        lock = nil
    }

    func openedState() throws(VaultError) -> StateFile {
        if case .failure(let error) = stateFile, error.code == .storageFull {
            // There may be room again.
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
                    logger.warning("\(file) is ignored: its name is not a valid collection name")
                }
            }
        }
        return names
    }

    /// Whether the file is a leftover of an interrupted creation and can be deleted.
    private func isUnfinished(_ file: String) -> Bool {
        let suffix = CollectionFormat.unfinishedSuffix
        return folder.isWritable && (file.hasSuffix(suffix) || file.hasSuffix(suffix + "-journal"))
    }
}
