import KeychaindModel

/// The database of a collection: reads and writes sealed rows.
///
/// Every method blocks; all are called on one thread.
final class CollectionFile {
    enum Write {
        case insert(id: ItemID, revision: UInt64, tags: [UInt8], metadata: [UInt8], secret: [UInt8])
        case update(id: ItemID, revision: UInt64, tags: [UInt8], metadata: [UInt8], secret: [UInt8]?)
        case delete(id: ItemID)
    }

    let obstacle: VaultError?

    let folder: Folder
    let journal: String
    let database: Database
    /// The approximate length of the journal.
    var journalBytes = 0
    var journalIsReserved = false
    // Whether the file or the journal may still hold data that a change has replaced.
    var journalMustBeEmptied = false
    private let insertion: Statement
    private let fullUpdate: Statement
    private let metadataUpdate: Statement
    private let deletion: Statement
    private let headerUpdate: Statement

    /// SQLite's default, in bytes.
    private static let pageSize = 4096

    /// Opens a file after checking its format; changes nothing otherwise.
    init(
        _ name: String,
        in folder: Folder,
        limits: VaultLimits,
        maximumPages: Int?,
        shared isShared: Bool = false
    ) throws(VaultError) {
        try FileProbe.check(
            folder.file(name),
            application: CollectionFormat.application,
            version: CollectionFormat.version
        )
        self.folder = folder
        journal = name + "-wal"
        try Self.checkJournal(of: name, in: folder)
        (database, obstacle) = try Database.open(name, in: folder, shared: isShared) { (database) throws(VaultError) in
            database.limitLength(toRowsWithin: limits)
            try database.check(tables: CollectionFormat.tables)
            // The journal may hold a newer version than the first page of the file.
            try FileProbe.check(database.integer("PRAGMA user_version"), is: CollectionFormat.version)
        }
        if obstacle == nil, let maximumPages { try database.execute("PRAGMA max_page_count = \(maximumPages)") }
        insertion = try database.prepare(
            "INSERT INTO item (id, revision, tags, metadata, secret) VALUES (?1, ?2, ?3, ?4, ?5)"
        )
        fullUpdate = try database.prepare(
            "UPDATE item SET revision = ?2, tags = ?3, metadata = ?4, secret = ?5 WHERE id = ?1"
        )
        metadataUpdate = try database.prepare("UPDATE item SET revision = ?2, tags = ?3, metadata = ?4 WHERE id = ?1")
        deletion = try database.prepare("DELETE FROM item WHERE id = ?1")
        headerUpdate = try database.prepare("UPDATE header SET label = ?1, modified = ?2, state = ?3 WHERE id = 1")
    }

    /// SQLite would accept what is before the damage, and overwrite the rest.
    private static func checkJournal(of name: String, in folder: Folder) throws(VaultError) {
        guard try PageFile.journalIsDamaged(of: name, in: folder) else { return }
        throw VaultError(.unreadable, reason: "its journal is damaged, so that its latest changes may be lost")
    }

    /// Returns a doubt whether the path leads to the file that has the changes, as ``Database/store(_:)``.
    func write(
        _ writes: [Write],
        label: String,
        modified: Timestamp,
        state: [UInt8]
    ) throws(VaultError) -> VaultError? {
        try database.store { () throws(VaultError) in
            for write in writes { try apply(write) }
            try headerUpdate.bind(label, at: 1)
            try headerUpdate.bind(modified.microsecondsSinceEpoch, at: 2)
            try headerUpdate.bind(state, at: 3)
            try headerUpdate.run()
        }.doubt
    }

    /// Replaces the tags of items after a change of the index key; returns a doubt as ``Database/store(_:)``.
    func retag(
        _ rows: [(id: ItemID, revision: UInt64, tags: [UInt8], metadata: [UInt8])],
        indexKey: [UInt8]
    ) throws(VaultError) -> VaultError? {
        try database.store { () throws(VaultError) in
            for row in rows {
                try apply(
                    .update(id: row.id, revision: row.revision, tags: row.tags, metadata: row.metadata, secret: nil)
                )
            }
            try database.run("UPDATE header SET index_key = ?1 WHERE id = 1", .bytes(indexKey))
        }.doubt
    }

    /// Whether other connections can use the file.
    var isShared: Bool { database.mode == .shared }

    /// The reason why the file cannot be written, if it may pass.
    var passingObstacle: VaultError? { obstacle.flatMap { error in error.mayPass ? error : nil } }

    /// Throws `displaced` if another program has replaced or removed the file.
    func checkPlace() throws(VaultError) {
        try database.checkPlace()
    }

    /// Stores a change of nothing; throws if the disk does not take it.
    func tryDisk() throws(VaultError) {
        try database.checkPlace()
        try database.changeNothing()
        journalBytes += Self.pageSize
    }

    func structuralDamage() throws(VaultError) -> String? {
        try database.structuralDamage()
    }

    func releaseMemory() {
        database.releaseMemory()
    }

    private func apply(_ write: Write) throws(VaultError) {
        // An estimate: a row and its part of the tree.
        journalBytes += 2 * Self.pageSize
        let statement: Statement
        switch write {
        case .insert(let id, let revision, let tags, let metadata, let secret):
            statement = insertion
            try statement.bind(id, revision: revision, tags: tags, metadata: metadata, secret: secret)
            journalBytes += secret.count
        case .update(let id, let revision, let tags, let metadata, let secret):
            statement = secret == nil ? metadataUpdate : fullUpdate
            try statement.bind(id, revision: revision, tags: tags, metadata: metadata, secret: secret)
            journalBytes += secret?.count ?? 0
        case .delete(let id):
            statement = deletion
            try statement.bind(Int64(id.rawValue), at: 1)
        }
        try statement.run()
        guard database.changedRows == 1 else {
            throw VaultError(.unreadable, reason: "an item is missing in the file")
        }
    }
}

extension Statement {
    fileprivate func bind(
        _ id: ItemID,
        revision: UInt64,
        tags: [UInt8],
        metadata: [UInt8],
        secret: [UInt8]?
    ) throws(VaultError) {
        try bind(Int64(id.rawValue), at: 1)
        try bind(Int64(bitPattern: revision), at: 2)
        try bind(tags, at: 3)
        try bind(metadata, at: 4)
        if let secret { try bind(secret, at: 5) }
    }
}
