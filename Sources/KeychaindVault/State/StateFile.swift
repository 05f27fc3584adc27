import Glibc
import KeychaindModel
import Logging

/// The database of data that belongs to no single collection: aliases, audit, lockouts and ledgers.
final class StateFile {
    static let name = "state.db"

    private static let application: UInt32 = 0x4b43_4853
    private static let version: UInt32 = 4
    private static let tables = [
        "CREATE TABLE alias (name TEXT PRIMARY KEY, collection TEXT NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE TABLE audit (id INTEGER PRIMARY KEY, entry BLOB NOT NULL) STRICT",
        "CREATE TABLE protection (collection BLOB PRIMARY KEY, ledger BLOB NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE TABLE record (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE TABLE unattended (id INTEGER PRIMARY KEY, entry BLOB NOT NULL) STRICT",
    ]

    struct Opened {
        var file: Result<StateFile, VaultError>
        var contents = Contents()
    }

    /// What the vault keeps in memory.
    struct Contents: Sendable {
        /// The aliases, with the names of their collections.
        var aliases: [String: String] = [:]
        var lockouts = StoredLockouts.none

        /// The collections that have a file; nil if nobody has recorded them.
        var known: [CollectionName: KnownCollection]?

        /// What is lost of a damaged file, in words.
        var loss: String?
    }

    private static let loss = """
        \(name) was damaged, and is kept as \(name).unreadable: aliases, entries of the history and records of \
        protected items may be lost, and failed attempts count as too many
        """

    /// The most aliases that are read.
    private static let maximumAliases = VaultLimits.aliasesPerCollection * VaultLimits().collections

    let database: Database
    /// The reason why the file cannot be written, if any.
    let obstacle: VaultError?

    /// Opens or creates the file; a failure does not stop the vault, whose collections do not need it.
    ///
    /// A damaged file is renamed and kept; its readable aliases are copied into a new one. If only the journal is
    /// damaged, the rest of the file stays in use. A file that cannot be read for another cause stays: open it again
    /// later.
    static func open(in folder: Folder, logger: Logger) -> Opened {
        var opened = Opened(file: .failure(VaultError(.readOnly, reason: "the data folder is read-only")))
        do throws(VaultError) {
            let read = try retryingRead { (_) throws(VaultError) -> Opened? in
                guard try folder.exists(name) else { return nil }
                let isDamaged = try keepDamaged(in: folder)
                let file = try StateFile(in: folder)
                var contents = try file.contents(recovered: &opened.contents)
                if isDamaged {
                    try file.recordLoss(in: folder)
                    contents.lockouts = .unreadable
                    contents.loss = loss
                }
                return Opened(file: .success(file), contents: contents)
            }
            if let loss = read?.contents.loss { logger.error("\(loss)") }
            if let read { return read }
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
            try create(in: folder)
            let file = try StateFile(in: folder)
            try file.database.transaction { () throws(VaultError) in
                for (alias, collection) in opened.contents.aliases { try file.setAlias(alias, to: collection) }
            }
            if let known = opened.contents.known { try file.remember(known) }
            opened.file = .success(file)
        } catch {
            logger.error("\(name) cannot be made, so aliases and the audit are not kept: \(error.reason)")
            opened.file = .failure(error)
        }
        return opened
    }

    private static func setAside(in folder: Folder) throws(VaultError) {
        let kept = try freeName(in: folder)
        for suffix in ["", "-wal", "-shm"] where try folder.exists(name + suffix) {
            try folder.rename(name + suffix, to: kept + suffix)
        }
    }

    /// Reads what the vault keeps in memory.
    ///
    /// - Parameter recovered: the aliases and the known collections, even if the rest is damaged.
    private func contents(recovered: inout Contents) throws(VaultError) -> Contents {
        recovered.aliases = try aliases()
        recovered.known = try knownCollections()
        let contents = try contents()
        // Damage elsewhere would surface only when the audit is written, and lose entries.
        if let damage = try database.structuralDamage() {
            throw VaultError(.unreadable, reason: "its structure is damaged: \(damage)")
        }
        return contents
    }

    func contents() throws(VaultError) -> Contents {
        Contents(aliases: try aliases(), lockouts: try lockouts(), known: try knownCollections())
    }

    private init(in folder: Folder) throws(VaultError) {
        try FileProbe.check(folder.file(Self.name), application: Self.application, version: Self.version)
        (database, obstacle) = try Database.open(Self.name, in: folder) { (database) throws(VaultError) in
            try FileProbe.check(database.integer("PRAGMA user_version"), is: Self.version)
            try database.check(tables: Self.tables)
        }
    }

    private func aliases() throws(VaultError) -> [String: String] {
        let rows = try database.prepare("SELECT name, collection FROM alias LIMIT \(Self.maximumAliases)")
        var aliases: [String: String] = [:]
        while try rows.step() { aliases[rows.text(at: 0)] = rows.text(at: 1) }
        return aliases
    }

    /// Throws `limitExceeded` if another alias would be too many for a collection.
    func checkRoom(for alias: String, of collection: String) throws(VaultError) {
        let aliases = try aliases()
        guard aliases[alias] != collection else { return }
        guard aliases.count(where: { other in other.value == collection }) < VaultLimits.aliasesPerCollection else {
            throw VaultError(
                .limitExceeded,
                reason: "a collection has at most \(VaultLimits.aliasesPerCollection) aliases"
            )
        }
    }

    func setAlias(_ alias: String, to collection: String?) throws(VaultError) {
        try requireWritable()
        if let collection {
            try database.change(
                "INSERT OR REPLACE INTO alias (name, collection) VALUES (?1, ?2)",
                .text(alias),
                .text(collection)
            )
        } else {
            try database.change("DELETE FROM alias WHERE name = ?1", .text(alias))
        }
    }

    func removeAliases(of collection: String) throws(VaultError) {
        try requireWritable()
        try database.change("DELETE FROM alias WHERE collection = ?1", .text(collection))
    }

    var isWritable: Bool { obstacle == nil }

    func requireWritable() throws(VaultError) {
        if let obstacle { throw obstacle }
    }

    func checkpoint() throws(VaultError) {
        guard isWritable else { return }
        try database.checkpoint()
    }

    func finish() throws(VaultError) {
        guard isWritable else { return }
        try database.checkpoint(truncating: true)
        database.removeJournalWhenClosed()
    }

    /// Moves the journal of a copied file into it; throws unless the file is readable.
    static func foldJournal(in folder: Folder) throws(VaultError) {
        guard try !PageFile.journalIsDamaged(of: name, in: folder) else {
            throw VaultError(.unreadable, reason: "its journal is damaged")
        }
        let file = try StateFile(in: folder)
        if let damage = try file.database.structuralDamage() { throw VaultError(.unreadable, reason: damage) }
        try file.finish()
    }

    private static func create(in folder: Folder) throws(VaultError) {
        let unfinished = name + "-new"
        try folder.remove(unfinished)
        try folder.remove(unfinished + "-journal")
        try folder.makeEmptyFile(unfinished)
        try fill(Database(path: folder.file(unfinished), mode: .exclusive))
        try folder.synchronize(unfinished)
        try folder.rename(unfinished, to: name)
        try folder.synchronize()
    }

    private static func fill(_ database: Database) throws(VaultError) {
        try database.execute("PRAGMA synchronous = FULL")
        try database.execute("PRAGMA application_id = \(application); PRAGMA user_version = \(version)")
        try database.transaction { () throws(VaultError) in
            for table in tables { try database.execute(table) }
        }
    }
}
