import KeychaindModel
import Logging

/// The vault's folder on its worker thread: the lock, and the files that belong to no collection.
final class VaultFolder {
    struct Contents: Sendable {
        var indexKey: BlindIndexKey
        /// The collections, the important ones first, also those whose file is missing.
        var names: [CollectionName]
        /// The collections that were there before.
        var known: [CollectionName: KnownCollection]
        var state: StateFile.Contents
        /// The reason why `state` cannot be read or written for now.
        var stateObstacle: VaultError?
        var rules: RulesFile.Content
    }

    let folder: Folder
    let logger: Logger
    private let audit: AuditTrail
    let configuration: VaultConfiguration
    private var lock: FolderLock?
    private var stateFile = Access.closed
    /// Whether a damaged `state` was replaced after the start.
    private var lockoutsAreLost = false
    /// What was lost of a damaged `state`.
    private var loss: String?
    /// The collections whose last change could not be forgotten yet, since the disk refused it.
    var obsoleteLastChanges: Set<[UInt8]> = []

    private enum Access {
        case closed
        case opened(StateFile)
        /// The file is left as it is; it may be tried again.
        case failed(VaultError)

        init(_ file: Result<StateFile, VaultError>) {
            switch file {
            case .success(let file): self = .opened(file)
            case .failure(let error): self = .failed(error)
            }
        }

        /// The reason why the file cannot be read for now.
        var failure: VaultError? {
            if case .failed(let error) = self, error.isTriedAgain { error } else { nil }
        }

        /// The reason why the file cannot be read or written for now.
        var obstacle: VaultError? {
            if case .opened(let file) = self { file.obstacle } else { failure }
        }
    }

    init(_ folder: Folder, configuration: VaultConfiguration, audit: AuditTrail) {
        self.folder = folder
        self.audit = audit
        self.configuration = configuration
        logger = configuration.logger
    }

    func open() throws(VaultError) -> Contents {
        do throws(VaultError) {
            try folder.create()
            lock = try FolderLock(folder)
            let indexKey = try IndexKeyFile.load(from: folder, logger: logger)
            let files = try folder.names()
            let names = names(among: files)
            let opened = StateFile.open(in: folder, configuration)
            stateFile = Access(opened.file)
            loss = opened.contents.loss
            var state = opened.contents
            for deletion in files.compactMap({ file in FileDeletion(leftover: file, in: folder) }) {
                finish(deletion)
                guard !names.contains(deletion.name) else { continue }
                state.known?[deletion.name] = nil
                state.aliases = state.aliases.filter { alias in alias.value != deletion.name.encoded }
            }
            let aliases = state.aliases.compactMapValues { encoded in CollectionName(encoded: encoded) }
            let listing = try listing(names, known: state.known, aliases: aliases)
            return Contents(
                indexKey: indexKey,
                names: listing.names,
                known: listing.known,
                state: state,
                stateObstacle: stateFile.obstacle,
                rules: RulesFile.load(from: folder)
            )
        } catch {
            close()
            throw error
        }
    }

    func setAlias(_ alias: String, to name: CollectionName?) throws(VaultError) {
        try changeState { (state) throws(VaultError) in
            try state.setAlias(alias, to: name?.encoded)
        }
    }

    /// Stores a record durably.
    func setLockout(_ record: [UInt8], of owner: LockoutOwner) throws(VaultError) {
        try changeState { (state) throws(VaultError) in try state.setLockout(record, of: owner) }
    }

    func ledger(of identifier: [UInt8]) throws(VaultError) -> StateFile.StoredLedger? {
        try openedState().ledger(of: identifier)
    }

    func setLedger(_ ledger: [UInt8], of identifier: [UInt8]) throws(VaultError) {
        try changeState { (state) throws(VaultError) in try state.setLedger(ledger, of: identifier) }
    }

    func writeRules(_ sealed: [UInt8], collection: [UInt8]) throws(VaultError) {
        try RulesFile.write(sealed, collection: collection, to: folder)
    }

    func setRulesAside() throws(VaultError) {
        try RulesFile.setAside(in: folder)
    }

    /// Writes what waits, and drops what is past.
    func rest() {
        writeAudit()
        guard case .opened(let file) = stateFile else { return }
        do throws(VaultError) {
            try file.rest()
        } catch {
            logger.debug("\(StateFile.name) is not rewritten: \(error)")
        }
    }

    func removeLockouts(of owners: [LockoutOwner]) {
        do throws(VaultError) {
            try changeState { (state) throws(VaultError) in try state.removeLockouts(of: owners) }
        } catch {
            // They count again after the next start, which only costs time.
            logger.warning("Records of failed attempts could not be removed from the disk: \(error)")
        }
    }

    func replaceLockouts(of owners: [LockoutOwner], with record: [UInt8], of owner: LockoutOwner) {
        do throws(VaultError) {
            try setLockout(record, of: owner)
        } catch {
            // What it would replace stays.
            return logger.warning("A record of failed attempts could not be written to the disk: \(error)")
        }
        removeLockouts(of: owners)
    }

    /// Writes the audit entries that wait; they go on waiting if that fails.
    func writeAudit() {
        guard case .opened(let file) = stateFile, file.isWritable else { return }
        do throws(VaultError) {
            try writeAudit(anyKey: false)
        } catch {
            logger.warning("Audit entries could not be written to the disk and wait: \(error)")
        }
    }

    func writeAudit(anyKey: Bool) throws(VaultError) {
        guard let batch = audit.take(at: configuration.now(), anyKey: anyKey) else { return }
        do throws(VaultError) {
            try changeState { (state) throws(VaultError) in
                try state.appendAudit(batch.entries, sealedBy: batch.key)
            }
            audit.didSync()
        } catch {
            audit.putBack(batch.entries)
            throw error
        }
    }

    func writeAuditIfLong() {
        if audit.isLong { writeAudit() }
    }

    /// Returns the audit entries, newest first, pending ones included.
    func auditEntries(since: Timestamp?, limit: Int) throws(VaultError) -> [AuditEntry] {
        writeAudit()
        guard limit > 0 else { return [] }
        let keys = audit.keys
        let earliest = since?.microsecondsSinceEpoch ?? .min
        var entries = audit.waiting.reversed().filter { entry in entry.time.microsecondsSinceEpoch >= earliest }
        entries = Array(entries.prefix(limit))
        if stateFile.failure != nil { _ = try openedState() }
        guard case .opened(let file) = stateFile else { return entries }
        try file.forEachAudit { number, row in
            guard entries.count < limit else { return false }
            // The clock may have been set back, so times need not be ordered.
            let entry = keys.lazy.compactMap { key in key.open(row, number: number) }.first
            if let entry, entry.time.microsecondsSinceEpoch >= earliest { entries.append(entry) }
            return true
        }
        return entries
    }

    func close() {
        writeAudit()
        stateFile = .closed
        lock = nil
    }

    func openedState() throws(VaultError) -> StateFile {
        if stateFile.failure != nil { openState() }
        switch stateFile {
        case .closed: throw VaultError.vaultClosed
        case .opened(let file): return file
        case .failed(let error): throw error
        }
    }

    /// Changes `state`; one that another program has replaced, or may have written into, is opened again first.
    func changeState(_ change: (StateFile) throws(VaultError) -> Void) throws(VaultError) {
        do throws(VaultError) {
            try change(openedState())
        } catch {
            guard error.code == .displaced else { throw error }
            logger.error("Another program has replaced \(StateFile.name), or may have written into it")
            try takeUpState()
            try change(openedState())
        }
    }

    /// Opens the file in place of a displaced one, with what the vault has in memory; a copy replaces a removed one.
    private func takeUpState() throws(VaultError) {
        let former = formerState()
        openState()
        guard let former else { return }
        try openedState().add(former)
        if let known = former.known { remember(known) }
    }

    private func formerState() -> StateFile.Contents? {
        guard case .opened(let file) = stateFile else { return nil }
        do throws(VaultError) {
            try file.putBack(in: folder)
        } catch {
            logger.error("\(StateFile.name) was removed, and its history and ledgers may be lost: \(error)")
        }
        return file.contents
    }

    /// Reads `state` again after it could not be read or written at the last attempt.
    func stateContents() throws(VaultError) -> StateFile.Contents {
        if stateFile.obstacle != nil { openState() }
        let file = try openedState()
        var contents = file.contents
        if lockoutsAreLost { contents.lockouts.rest = .unreadable }
        contents.loss = loss
        if let obstacle = file.obstacle { throw obstacle }
        return contents
    }

    private func openState() {
        // The lock of the open one would keep the new one out.
        stateFile = .closed
        let opened = StateFile.open(in: folder, configuration)
        stateFile = Access(opened.file)
        loss = opened.contents.loss ?? loss
        if case .opened = stateFile, opened.contents.lockouts.rest == .unreadable { lockoutsAreLost = true }
    }

    private func names(among files: [String]) -> [CollectionName] {
        var names: [CollectionName] = []
        for file in files {
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
        return folder.isWritable && (file.hasSuffix(suffix) || file.hasSuffix(suffix + "-new"))
    }
}
