import KeychaindModel
import Logging

extension StateFile {
    struct Opened {
        var file: Result<StateFile, VaultError>
        var contents = Contents()
    }

    /// What the vault keeps in memory.
    struct Contents: Sendable {
        /// The aliases, with the names of their collections.
        var aliases: [String: String] = [:]
        var lockouts = StoredLockouts.none

        /// The collections that have a file; nil if they were never recorded.
        var known: [CollectionName: KnownCollection]?

        /// What is lost of a damaged file, in words.
        var loss: String?
    }

    private static let loss = """
        \(name) was damaged, and is kept as \(name).unreadable: aliases, entries of the history and records of \
        protected items may be lost, and failed attempts count as too many
        """

    private static let stalePrefix = "stale-ledger/"

    /// Opens or creates the file; a failure does not stop the vault, whose collections do not need it.
    ///
    /// Of a damaged file, what is intact is kept in a new one, and the loss is recorded: what may be older than it was
    /// is taken for the worst. A file that cannot be read for another cause stays: open it again later.
    static func open(in folder: Folder, _ configuration: VaultConfiguration) -> Opened {
        let logger = configuration.logger
        var opened = Opened(file: .failure(VaultError(.readOnly, reason: "the data folder is read-only")))
        do throws(VaultError) {
            let read = try retryingRead(until: { file in file?.isDamaged != true }) { (_) throws(VaultError) in
                try folder.exists(name) ? StateFile(in: folder, configuration) : nil
            }
            if let file = read {
                opened.contents = file.contents
                if file.isDamaged {
                    logger.error("\(loss)")
                    (opened.contents.lockouts, opened.contents.loss) = (.unreadable, loss)
                    if file.isWritable { try file.recordLoss(in: folder) }
                }
                opened.file = .success(file)
                return opened
            }
        } catch {
            opened.contents.lockouts = .unreadable
            guard error.code == .unreadable, folder.isWritable else {
                logger.error("\(name) cannot be read, so there are no aliases and no audit: \(error.reason)")
                opened.file = .failure(error)
                return opened
            }
            logger.error("\(name) is damaged and is kept as \(name).unreadable: \(error.reason)")
            opened.contents.loss = loss
        }
        guard folder.isWritable else { return opened }
        do throws(VaultError) {
            if try folder.exists(name) { try setAside(in: folder) }
            opened.file = .success(try StateFile(in: folder, isNew: true, configuration))
        } catch {
            logger.error("\(name) cannot be made, so aliases and the audit are not kept: \(error.reason)")
            opened.file = .failure(error)
        }
        return opened
    }

    private func recordLoss(in folder: Folder) throws(VaultError) {
        var values: [String: [UInt8]?] = [:]
        // No valid record, and so the worst.
        for (name, _) in records(withPrefix: LockoutOwner.prefix) { values[LockoutOwner.prefix + name] = .some([]) }
        for (name, _) in records(withPrefix: Self.ledgerPrefix) { values[Self.stalePrefix + name] = .some([]) }
        try salvage(in: folder, setting: values)
    }

    var contents: Contents {
        Contents(aliases: aliases, lockouts: lockouts, known: knownCollections)
    }

    /// Adds the aliases and the records of failed attempts of a former file: they are those in memory.
    func add(_ former: Contents) throws(VaultError) {
        var values: [String: [UInt8]?] = [:]
        for (alias, collection) in former.aliases { values[Self.aliasPrefix + alias] = .some(Array(collection.utf8)) }
        for (owner, record) in former.lockouts.records { values[owner.name] = .some(record) }
        try set(values)
    }
}

// MARK: Aliases

extension StateFile {
    private static let aliasPrefix = "alias/"

    private var aliases: [String: String] {
        var aliases: [String: String] = [:]
        for (alias, collection) in records(withPrefix: Self.aliasPrefix) {
            aliases[alias] = String(decoding: collection, as: UTF8.self)
        }
        return aliases
    }

    /// Sets or removes an alias; throws `limitExceeded` if it would be too many for a collection.
    func setAlias(_ alias: String, to collection: String?) throws(VaultError) {
        let others = aliases.filter { other in other.key != alias && other.value == collection }
        guard collection == nil || others.count < VaultLimits.aliasesPerCollection else {
            throw VaultError(
                .limitExceeded,
                reason: "a collection has at most \(VaultLimits.aliasesPerCollection) aliases"
            )
        }
        try set([Self.aliasPrefix + alias: collection.map { Array($0.utf8) }])
    }

    /// Forgets a collection and its aliases.
    func forget(_ name: CollectionName) throws(VaultError) {
        var values: [String: [UInt8]?] = [Self.listName: .some([1])]
        for prefix in [Self.labelPrefix, Self.identifierPrefix] { values[prefix + name.encoded] = .some(nil) }
        for (alias, collection) in aliases where collection == name.encoded {
            values[Self.aliasPrefix + alias] = .some(nil)
        }
        try set(values)
    }
}

// MARK: Ledgers

extension StateFile {
    private static let ledgerPrefix = "ledger/"

    /// A sealed ledger of protected items, and whether protections may be missing in it.
    struct StoredLedger {
        let sealed: [UInt8]
        let mayLackProtections: Bool
    }

    func ledger(of identifier: [UInt8]) -> StoredLedger? {
        guard let sealed = value(ofRecord: Self.recordName(Self.ledgerPrefix, of: identifier)) else { return nil }
        let isStale = value(ofRecord: Self.recordName(Self.stalePrefix, of: identifier)) != nil
        return StoredLedger(sealed: sealed, mayLackProtections: isStale)
    }

    func setLedger(_ ledger: [UInt8], of identifier: [UInt8]) throws(VaultError) {
        try set([
            Self.recordName(Self.ledgerPrefix, of: identifier): ledger,
            Self.recordName(Self.stalePrefix, of: identifier): nil,
        ])
    }

    /// The name of the record of a collection.
    static func recordName(_ prefix: String, of identifier: [UInt8]) -> String {
        prefix + identifier.hexadecimal()
    }
}

// MARK: Failed attempts

extension StateFile {
    private var lockouts: StoredLockouts {
        var lockouts = StoredLockouts.none
        for (name, record) in records(withPrefix: LockoutOwner.prefix) {
            if let owner = LockoutOwner(name: LockoutOwner.prefix + name) { lockouts.set(record, of: owner) }
        }
        return lockouts
    }

    /// Records failed attempts, also on a full disk.
    func setLockout(_ record: [UInt8], of owner: LockoutOwner) throws(VaultError) {
        try set([owner.name: .some(record)], isUrgent: true)
    }

    func removeLockouts(of owners: [LockoutOwner]) throws(VaultError) {
        var values: [String: [UInt8]?] = [:]
        for owner in owners { values[owner.name] = .some(nil) }
        try set(values)
    }
}
