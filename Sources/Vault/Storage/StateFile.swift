import Glibc
import Logging

/// The small database beside the collections: what belongs to no one of them.
final class StateFile {
    /// The file's name in the folder.
    static let name = "state.db"

    private static let application: UInt32 = 0x4b43_4853
    private static let version: UInt32 = 1
    private static let tables = [
        "CREATE TABLE alias (name TEXT PRIMARY KEY, collection TEXT NOT NULL) STRICT, WITHOUT ROWID"
    ]

    private let database: Database
    private let isWritable: Bool

    /// Opens the file, and makes it when it is missing.
    ///
    /// A file that cannot be read is set aside under another name, never removed: the collections do not depend on it.
    static func open(in folder: Folder, logger: Logger) throws(VaultError) -> StateFile? {
        do throws(VaultError) {
            if folder.contains(name) { return try StateFile(in: folder) }
        } catch {
            if error.code == .unsupportedFormat || !folder.isWritable {
                logger.error("\(name) cannot be read, so there are no aliases: \(error.reason)")
                return nil
            }
            guard error.code == .unreadable else { throw error }
            let aside = name + ".unreadable"
            logger.error(
                "\(name) cannot be read and is kept as \(aside); the aliases have to be set anew: \(error.reason)"
            )
            for suffix in ["", "-wal", "-shm"] where folder.contains(name + suffix) {
                try folder.rename(name + suffix, to: aside + suffix)
            }
        }
        guard folder.isWritable else { return nil }
        try create(in: folder)
        return try StateFile(in: folder)
    }

    private init(in folder: Folder) throws(VaultError) {
        let path = folder.file(Self.name)
        try FileProbe.check(path, application: Self.application, versions: Self.version...Self.version)
        isWritable = folder.isWritable && Folder.isWritable(path)
        database = try Database(path: path, mode: isWritable ? .readWrite : .immutable)
        try database.check(tables: Self.tables)
        if isWritable { try database.enableWriting() }
    }

    /// The aliases: from the alias to the name of the collection.
    func aliases() throws(VaultError) -> [String: String] {
        let rows = try database.prepare("SELECT name, collection FROM alias LIMIT \(StateFile.maximumAliases)")
        var aliases: [String: String] = [:]
        while try rows.step() { aliases[rows.text(at: 0)] = rows.text(at: 1) }
        return aliases
    }

    /// How many aliases there may be.
    static let maximumAliases = 1024

    /// Sets an alias; nil removes it.
    func setAlias(_ alias: String, to collection: String?) throws(VaultError) {
        guard isWritable else { throw VaultError(.readOnly, reason: "the data folder cannot be written") }
        if let collection {
            let change = try database.prepare("INSERT OR REPLACE INTO alias (name, collection) VALUES (?1, ?2)")
            try change.bind(alias, at: 1)
            try change.bind(collection, at: 2)
            try change.run()
        } else {
            let change = try database.prepare("DELETE FROM alias WHERE name = ?1")
            try change.bind(alias, at: 1)
            try change.run()
        }
    }

    /// Removes all aliases of a collection.
    func removeAliases(of collection: String) throws(VaultError) {
        guard isWritable else { throw VaultError(.readOnly, reason: "the data folder cannot be written") }
        let change = try database.prepare("DELETE FROM alias WHERE collection = ?1")
        try change.bind(collection, at: 1)
        try change.run()
    }

    /// Moves the journal into the file.
    func finish() throws(VaultError) {
        guard isWritable else { return }
        try database.checkpoint(truncating: true)
        database.removeJournalWhenClosed()
    }

    private static func create(in folder: Folder) throws(VaultError) {
        let unfinished = name + "-new"
        try folder.remove(unfinished)
        try folder.remove(unfinished + "-journal")
        try folder.makeEmptyFile(unfinished)
        try fill(Database(path: folder.file(unfinished), mode: .readWrite))
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
