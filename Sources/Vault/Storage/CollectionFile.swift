import KeychainModel

/// The database of a collection: rows in and out, sealed as they are.
///
/// Every method blocks, and all are called on one thread.
final class CollectionFile {
    /// A row of the item table, whose bytes are valid until the next row.
    struct Row {
        let id: Int64
        let revision: UInt64
        let tags: UnsafeRawBufferPointer
        let metadata: UnsafeRawBufferPointer
        // Nil when it is longer than was asked for.
        let secret: UnsafeRawBufferPointer?
    }

    /// A change of one row, sealed.
    enum Write {
        case insert(id: ItemID, revision: UInt64, tags: [UInt8], metadata: [UInt8], secret: [UInt8])
        case update(id: ItemID, revision: UInt64, tags: [UInt8], metadata: [UInt8], secret: [UInt8]?)
        case delete(id: ItemID)
    }

    // Past this much in the journal it is worth moving it into the file.
    private static let journalLimit = 1 << 20

    // What the journal is kept at: the limit, and what the change that passes it mostly adds.
    private static let journalReserve = journalLimit + 64 << 10

    /// Why no change can be written; nil if it can.
    let obstacle: VaultError?

    private let folder: Folder
    private let journal: String
    let database: Database
    private var version: UInt32
    private var journalBytes = 0
    private var journalIsReserved = false
    // Whether the file or the journal may still have what a change has replaced.
    private var journalMustBeEmptied = false
    private let insertion: Statement
    private let fullUpdate: Statement
    private let metadataUpdate: Statement
    private let deletion: Statement
    private let headerUpdate: Statement

    /// Opens a file, after making sure that it is one of ours; nothing of it is changed otherwise.
    init(_ name: String, in folder: Folder, limits: VaultLimits, maximumPages: Int?) throws(VaultError) {
        try FileProbe.check(
            folder.file(name),
            application: CollectionFormat.application,
            versions: CollectionFormat.versions
        )
        self.folder = folder
        journal = name + "-wal"
        var version: UInt32 = 0
        (database, obstacle) = try Database.open(name, in: folder) { (database) throws(VaultError) in
            database.limitLength(to: limits.secretBytes + limits.attributeBytes + limits.labelBytes + 1 << 20)
            try database.check(tables: CollectionFormat.tables)
            // The journal may have a later one than the first page of the file.
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

    /// Makes the file of a new collection: whole and durable, or not at all.
    ///
    /// It gets its name when all is in it, so that a crash leaves at most a file that nobody takes for a collection. Throws `busy` when
    /// there is a file of that name: somebody may have put it there from a backup.
    static func create(
        _ name: CollectionName,
        in folder: Folder,
        header: CollectionHeader,
        state: [UInt8]
    ) throws(VaultError) {
        let unfinished = name.encoded + CollectionFormat.unfinishedSuffix
        try folder.remove(unfinished)
        try folder.remove(unfinished + "-journal")
        do throws(VaultError) {
            try folder.makeEmptyFile(unfinished)
            try fill(Database(path: folder.file(unfinished), mode: .readWrite), header: header, state: state)
            try folder.synchronize(unfinished)
            let file = name.encoded + CollectionFormat.suffix
            try folder.requireFree(file)
            // A journal without its file belongs to nothing, and would be taken for this file's.
            for orphan in [file + "-wal", file + "-shm"] where folder.contains(orphan) {
                try folder.rename(orphan, to: orphan + "-orphan")
            }
            try folder.renameIfFree(unfinished, to: file)
            do throws(VaultError) {
                try folder.synchronize()
            } catch {
                try? folder.remove(file)
                throw error
            }
        } catch {
            try? folder.remove(unfinished)
            throw error
        }
    }

    /// Moves the journal of a file that nobody uses into the file; throws unless it is a collection that can be read.
    static func foldJournal(_ name: String, in folder: Folder) throws(VaultError) {
        _ = try examine(name, in: folder)
    }

    /// Reads what needs no key from a file that nobody uses, and moves its journal into it.
    static func examine(
        _ name: String,
        in folder: Folder
    ) throws(VaultError) -> (header: CollectionHeader, state: [UInt8], itemCount: Int) {
        let file = try CollectionFile(name, in: folder, limits: VaultLimits(), maximumPages: nil)
        if let obstacle = file.obstacle { throw obstacle }
        if let damage = try file.structuralDamage() { throw VaultError(.unreadable, reason: damage) }
        let found = (try file.header(), try file.state(), try file.database.integer("SELECT count(*) FROM item"))
        try file.finish(isSound: true)
        return (found.0, found.1, Int(clamping: found.2))
    }

    /// Reads what needs no key.
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
            throw VaultError(.unreadable, reason: "its key slots are damaged")
        }
        return header
    }

    /// Reads the sealed state.
    func state() throws(VaultError) -> [UInt8] {
        let row = try database.prepare("SELECT state FROM header")
        guard try row.step() else { throw VaultError(.unreadable, reason: "the header is missing") }
        return Array(row.bytes(at: 0))
    }

    /// The highest number of an item: counting the items would read the whole file.
    func highestItem() throws(VaultError) -> Int {
        Int(clamping: try database.integer("SELECT max(id) FROM item"))
    }

    /// Calls `body` with the number, revision and tags of each item, in the order of the numbers.
    func forEachTags(_ body: (_ id: Int64, _ revision: UInt64, _ tags: UnsafeRawBufferPointer) -> Void)
        throws(VaultError)
    {
        let rows = try database.prepare("SELECT id, revision, tags FROM item ORDER BY id")
        while try rows.step() {
            body(rows.integer(at: 0), UInt64(bitPattern: rows.integer(at: 1)), rows.bytes(at: 2))
        }
    }

    /// Calls `body` with each row, in the order of the numbers.
    ///
    /// - Parameter secretsUpTo: sealed secrets that are longer, in bytes, are not read.
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

    /// Reads one sealed secret.
    func secret(of id: ItemID) throws(VaultError) -> [UInt8] {
        let row = try database.prepare("SELECT secret FROM item WHERE id = ?1")
        try row.bind(Int64(id.rawValue), at: 1)
        guard try row.step() else { throw VaultError(.unreadable, reason: "item \(id) is missing in the file") }
        return Array(row.bytes(at: 0))
    }

    /// Writes changes and the state after them in one transaction, and syncs it.
    func write(
        _ writes: [Write],
        label: String,
        modified: Timestamp,
        state: [UInt8],
        version needed: UInt32
    ) throws(VaultError) {
        try database.transaction { () throws(VaultError) in
            try raiseVersion(to: needed)
            for write in writes { try apply(write) }
            try headerUpdate.bind(label, at: 1)
            try headerUpdate.bind(modified.microsecondsSinceEpoch, at: 2)
            try headerUpdate.bind(state, at: 3)
            try headerUpdate.run()
        }
        versionWasRaised(to: needed)
    }

    /// Writes within a transaction that the file is of a later format from now on, unless it is already.
    func raiseVersion(to needed: UInt32) throws(VaultError) {
        if needed > version { try database.execute("PRAGMA user_version = \(needed)") }
    }

    /// Takes note that the transaction has come to its end.
    func versionWasRaised(to needed: UInt32) {
        version = max(version, needed)
    }

    /// Gives items new tags, under another index key.
    func retag(
        _ rows: [(id: ItemID, revision: UInt64, tags: [UInt8], metadata: [UInt8])],
        indexKey: [UInt8]
    ) throws(VaultError) {
        try database.transaction { () throws(VaultError) in
            for row in rows {
                try apply(
                    .update(id: row.id, revision: row.revision, tags: row.tags, metadata: row.metadata, secret: nil)
                )
            }
            let update = try database.prepare("UPDATE header SET index_key = ?1 WHERE id = 1")
            try update.bind(indexKey, at: 1)
            try update.run()
        }
    }

    /// Gives the journal, once, the length that it grows to: SQLite begins it anew in place, so from then on a commit only
    /// overwrites, and its sync is nearly twice as quick.
    ///
    /// A failure does no harm.
    func reserveJournal() {
        guard obstacle == nil, !journalIsReserved else { return }
        journalIsReserved = true
        try? folder.reserve(journal, bytes: Self.journalReserve)
    }

    /// Whether the journal should be moved into the file before the next pause.
    var journalIsLong: Bool { journalBytes > Self.journalLimit || journalMustBeEmptied }

    /// Moves the journal into the file, unless it is empty, and makes it as short as it is to be.
    func checkpoint() throws(VaultError) {
        guard obstacle == nil, journalBytes > 0 || journalMustBeEmptied else { return }
        if !journalMustBeEmptied {
            try database.checkpoint()
            journalBytes = 0
            guard folder.size(of: journal) > 4 * Self.journalReserve else { return }
        }
        try emptyJournal()
    }

    /// Moves the journal into the file and empties it.
    ///
    /// While somebody else reads the file that cannot be; then it throws `busy` at once.
    private func emptyJournal() throws(VaultError) {
        try database.checkpoint(truncating: true, waiting: false)
        journalBytes = 0
        journalIsReserved = false
        journalMustBeEmptied = false
    }

    /// Empties the journal after a change whose point is that neither file nor journal has any more what it has replaced; when that
    /// cannot be, every ``checkpoint()`` tries again.
    func forgetReplaced() throws(VaultError) {
        journalMustBeEmptied = true
        try emptyJournal()
    }

    /// Moves all of the journal into the file, so that once it is closed the file alone is the collection.
    ///
    /// - Parameter isSound: whether the file is known to be what was written; if not, a journal that holds something stays.
    func finish(isSound: Bool) throws(VaultError) {
        guard obstacle == nil, isSound || folder.size(of: journal) == 0 else { return }
        if isSound { try database.checkpoint(truncating: true) }
        database.removeJournalWhenClosed()
    }

    /// What SQLite finds wrong with the structure of the file; nil when it is sound.
    func structuralDamage() throws(VaultError) -> String? {
        try database.structuralDamage()
    }

    /// Gives memory back that is kept for speed.
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

    private static func fill(_ database: Database, header: CollectionHeader, state: [UInt8]) throws(VaultError) {
        try database.execute(
            """
            PRAGMA synchronous = FULL;
            PRAGMA application_id = \(CollectionFormat.application);
            PRAGMA user_version = \(CollectionFormat.versions.lowerBound)
            """
        )
        try database.transaction { () throws(VaultError) in
            for table in CollectionFormat.tables { try database.execute(table) }
            let insertion = try database.prepare(
                """
                INSERT INTO header (id, uuid, label, created, modified, index_key, state)
                VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)
                """
            )
            try insertion.bind(header.identifier, at: 1)
            try insertion.bind(header.label, at: 2)
            try insertion.bind(header.created.microsecondsSinceEpoch, at: 3)
            try insertion.bind(header.modified.microsecondsSinceEpoch, at: 4)
            try insertion.bind(header.indexKey, at: 5)
            try insertion.bind(state, at: 6)
            try insertion.run()
            for slot in header.slots { try insert(slot, of: header, into: database) }
        }
    }
}

extension Statement {
    /// Binds the columns of an item, of which the secret may be left out.
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
