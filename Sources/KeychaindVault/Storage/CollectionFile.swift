import KeychaindModel

/// The database of a collection: reads and writes sealed rows.
///
/// Every method blocks; all are called on one thread.
final class CollectionFile {
    /// A row of the item table; its bytes are valid until the next row.
    struct Row {
        let id: Int64
        let revision: UInt64
        let tags: UnsafeRawBufferPointer
        let metadata: UnsafeRawBufferPointer
        // Nil when it is longer than the requested limit.
        let secret: UnsafeRawBufferPointer?
    }

    enum Write {
        case insert(id: ItemID, revision: UInt64, tags: [UInt8], metadata: [UInt8], secret: [UInt8])
        case update(id: ItemID, revision: UInt64, tags: [UInt8], metadata: [UInt8], secret: [UInt8]?)
        case delete(id: ItemID)
    }

    // A longer journal is checkpointed.
    private static let journalLimit = 1 << 20

    // The reserved size of the journal: the limit plus a typical change.
    private static let journalReserve = journalLimit + 64 << 10

    let obstacle: VaultError?

    private let folder: Folder
    private let journal: String
    let database: Database
    private var version: UInt32
    private var journalBytes = 0
    private var journalIsReserved = false
    // Whether the file or the journal may still hold data that a change has replaced.
    private var journalMustBeEmptied = false
    private let insertion: Statement
    private let fullUpdate: Statement
    private let metadataUpdate: Statement
    private let deletion: Statement
    private let headerUpdate: Statement

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
            versions: CollectionFormat.versions
        )
        self.folder = folder
        journal = name + "-wal"
        try Self.checkJournal(of: name, in: folder)
        var version: UInt32 = 0
        (database, obstacle) = try Database.open(name, in: folder, shared: isShared) { (database) throws(VaultError) in
            database.limitLength(toRowsWithin: limits)
            try database.check(tables: CollectionFormat.tables)
            // The journal may hold a newer version than the first page of the file.
            version = UInt32(clamping: try database.integer("PRAGMA user_version"))
            try FileProbe.check(version, in: CollectionFormat.versions)
        }
        self.version = version
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

    func header() throws(VaultError) -> CollectionHeader {
        let row = try database.prepare("SELECT uuid, label, created, modified, index_key FROM header")
        guard try row.step() else { throw VaultError(.unreadable, reason: "the header is missing") }
        var header = CollectionHeader(
            identifier: Array(row.bytes(at: 0)),
            label: row.text(at: 1),
            created: Timestamp(microsecondsSinceEpoch: row.integer(at: 2)),
            modified: Timestamp(microsecondsSinceEpoch: row.integer(at: 3)),
            indexKey: Array(row.bytes(at: 4)),
            slots: []
        )
        guard header.identifier.count == CollectionFormat.identifierSize else {
            throw VaultError(.unreadable, reason: "the collection's identifier is damaged")
        }
        try addSlots(to: &header)
        guard header.slots.contains(where: \.opensCollection) else {
            throw VaultError(.unreadable, reason: "all its key slots are damaged")
        }
        return header
    }

    func state() throws(VaultError) -> [UInt8] {
        let row = try database.prepare("SELECT state FROM header")
        guard try row.step() else { throw VaultError(.unreadable, reason: "the header is missing") }
        return Array(row.bytes(at: 0))
    }

    /// Changes when another connection changes the file.
    func dataVersion() throws(VaultError) -> Int64 {
        try database.integer("PRAGMA data_version")
    }

    /// The highest item ID; counting the items would read the whole file.
    func highestItem() throws(VaultError) -> Int {
        Int(clamping: try database.integer("SELECT max(id) FROM item"))
    }

    func forEachTags(_ body: (_ id: Int64, _ revision: UInt64, _ tags: UnsafeRawBufferPointer) -> Void)
        throws(VaultError)
    {
        let rows = try database.prepare("SELECT id, revision, tags FROM item ORDER BY id")
        while try rows.step() {
            body(rows.integer(at: 0), UInt64(bitPattern: rows.integer(at: 1)), rows.bytes(at: 2))
        }
    }

    /// Calls `body` with each row, in ID order; secrets longer than `limit` bytes are not read.
    func forEachRow(
        secretsUpTo limit: Int,
        _ body: (Row) throws(VaultError) -> Void
    ) throws(VaultError) {
        let rows = try database.prepare(
            "SELECT id, revision, tags, metadata, iif(length(secret) <= ?1, secret, NULL) FROM item ORDER BY id"
        )
        try rows.bind(Int64(limit), at: 1)
        while try rows.step() {
            try body(
                Row(
                    id: rows.integer(at: 0),
                    revision: UInt64(bitPattern: rows.integer(at: 1)),
                    tags: rows.bytes(at: 2),
                    metadata: rows.bytes(at: 3),
                    secret: rows.isNull(at: 4) ? nil : rows.bytes(at: 4)
                )
            )
        }
    }

    func secret(of id: ItemID) throws(VaultError) -> [UInt8] {
        let row = try database.prepare("SELECT secret FROM item WHERE id = ?1")
        try row.bind(Int64(id.rawValue), at: 1)
        guard try row.step() else { throw VaultError(.unreadable, reason: "item \(id) is missing in the file") }
        return Array(row.bytes(at: 0))
    }

    /// Returns a doubt whether the path leads to the file that has the changes, as ``Database/store(_:)``.
    func write(
        _ writes: [Write],
        label: String,
        modified: Timestamp,
        state: [UInt8],
        version needed: UInt32
    ) throws(VaultError) -> VaultError? {
        let stored = try database.store { () throws(VaultError) in
            try raiseVersion(to: needed)
            for write in writes { try apply(write) }
            try headerUpdate.bind(label, at: 1)
            try headerUpdate.bind(modified.microsecondsSinceEpoch, at: 2)
            try headerUpdate.bind(state, at: 3)
            try headerUpdate.run()
        }
        versionWasRaised(to: needed)
        return stored.doubt
    }

    func raiseVersion(to needed: UInt32) throws(VaultError) {
        if needed > version { try database.execute("PRAGMA user_version = \(needed)") }
    }

    func versionWasRaised(to needed: UInt32) {
        version = max(version, needed)
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

    /// Reserves the journal's full length once: SQLite then overwrites it in place, with nearly twice as fast syncs.
    ///
    /// A failure is harmless.
    func reserveJournal() {
        guard obstacle == nil, !journalIsReserved else { return }
        journalIsReserved = true
        guard (try? database.isTouched()) == false else { return }
        try? folder.reserve(journal, bytes: Self.journalReserve)
        database.journalWasExtended()
    }

    /// Whether the journal should be checkpointed without waiting for a pause.
    var journalIsLong: Bool { journalBytes > Self.journalLimit || journalMustBeEmptied }

    /// Moves the journal into the file, and shortens an oversized journal.
    func checkpoint() throws(VaultError) {
        guard obstacle == nil, journalBytes > 0 || journalMustBeEmptied else { return }
        if !journalMustBeEmptied {
            try database.checkpoint()
            journalBytes = 0
            guard try folder.size(of: journal) > 4 * Self.journalReserve else { return }
        }
        try emptyJournal()
    }

    /// Moves the journal into the file and empties it; throws `busy` at once while somebody else reads the file.
    private func emptyJournal() throws(VaultError) {
        try database.checkpoint(truncating: true, waiting: false)
        journalBytes = 0
        journalIsReserved = false
        journalMustBeEmptied = false
    }

    /// Removes replaced data from the file and the journal; if that fails, every ``checkpoint()`` tries again.
    func forgetReplaced() throws(VaultError) {
        journalMustBeEmptied = true
        try emptyJournal()
    }

    /// Moves the whole journal into the file, unless the file is unverified and the journal has contents.
    func finish(isSound: Bool) throws(VaultError) {
        guard obstacle == nil else { return }
        if !isSound, try folder.size(of: journal) > 0 { return }
        if isSound { try database.checkpoint(truncating: true) }
        database.removeJournalWhenClosed()
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
        journalBytes += 4096
    }

    func structuralDamage() throws(VaultError) -> String? {
        try database.structuralDamage()
    }

    func releaseMemory() {
        database.releaseMemory()
    }

    private func apply(_ write: Write) throws(VaultError) {
        journalBytes += 2 * 4096
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
