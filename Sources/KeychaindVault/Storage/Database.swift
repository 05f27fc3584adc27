import CKeychaindSQLite

/// A connection to an SQLite file, used by one thread at a time.
///
/// It distrusts the file: triggers, views and functions in the schema do not run, and pages are checked when they are
/// read. Closing never checkpoints, so a damaged file is not written to.
final class Database {
    enum Mode {
        /// Read and write in WAL mode, with a sync at every commit; no other connection can open the file.
        ///
        /// The index of the journal is in memory. Shared, it is a mapped file (`-shm`), and a program that shortens
        /// that ends this process with SIGBUS.
        case exclusive

        /// The same beside other connections.
        case shared

        /// Read a file that nobody can change, without locks, journal or new files.
        case immutable
    }

    // The wait for another connection.
    private static let busyMilliseconds: CInt = 2000

    let mode: Mode
    private let handle: OpaquePointer
    private let place: FilePlace
    private let note: JournalNote
    /// The frames of the journal after a commit that has not been noted; SQLite's hook writes it.
    private let frames: UnsafeMutablePointer<CInt>
    private var lastCommit = Commit.settled
    private var removesJournal = false

    /// The state of the last transaction on the disk.
    private enum Commit {
        case settled
        /// A commit has failed, but the journal may hold all of it; who reads the file next would take it for valid.
        case unsettled
    }

    // Prepared once, used by every transaction.
    private var beginning: OpaquePointer?
    private var ending: OpaquePointer?

    init(path: String, mode: Mode) throws(VaultError) {
        var handle: OpaquePointer?
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var name = path
        switch mode {
        case .exclusive, .shared:
            flags |= SQLITE_OPEN_READWRITE
        case .immutable:
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            name = "file:" + Self.percentEncoded(path) + "?immutable=1"
        }
        let status = SQLiteStatus { sqlite3_open_v2(name, &handle, flags, nil) }
        guard status.code == SQLITE_OK, let handle else {
            let error = VaultError(status, doing: "open", message: handle.map(Self.message))
            sqlite3_close_v2(handle)
            throw error
        }
        // SQLite opens a file only to read if opening it to write fails, for whatever cause.
        if flags & SQLITE_OPEN_READWRITE != 0, sqlite3_db_readonly(handle, "main") == 1, Folder.isWritable(path) {
            sqlite3_close_v2(handle)
            throw VaultError(.storageFailed, reason: "the file could be opened only to read")
        }
        self.mode = mode
        self.handle = handle
        place = FilePlace(path)
        note = JournalNote(path)
        frames = .allocate(capacity: 1)
        frames.initialize(to: 0)
        sqlite3_busy_timeout(handle, Self.busyMilliseconds)
        for (option, value) in [
            (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
            (SQLITE_DBCONFIG_ENABLE_VIEW, 0), (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1),
        ] {
            keychaind_sqlite_configure(handle, option, CInt(value))
        }
        // SQLite chooses the place of the index at the first access.
        if case .exclusive = mode { try execute("PRAGMA locking_mode = EXCLUSIVE") }
        // A quarter of a MiB holds the B-tree's inner nodes; the items are in memory anyway.
        try execute("PRAGMA cache_size = -256; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY")
    }

    deinit {
        if removesJournal, mode == .exclusive, place.hasFile { note.remove() }
        sqlite3_finalize(beginning)
        sqlite3_finalize(ending)
        sqlite3_close_v2(handle)
        frames.deallocate()
    }

    /// Makes commits durable and deletions overwrite the data, and checks that SQLite agreed.
    func enableWriting() throws(VaultError) {
        try execute("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 0")
        let journal = try text("PRAGMA journal_mode = WAL")
        let synchronous = try integer("PRAGMA synchronous")
        guard journal == "wal", synchronous == 2 else {
            throw VaultError(.storageFailed, reason: "SQLite refused durable writes (\(journal), \(synchronous))")
        }
        try checkJournalIsWritable()
        if mode == .exclusive { note.prepare() }
        // The same hook as that of automatic checkpoints, which are off by now.
        _ = sqlite3_wal_hook(
            handle,
            { frames, _, _, count in
                frames?.assumingMemoryBound(to: CInt.self).pointee = count
                return SQLITE_OK
            },
            frames
        )
        try place.begin()
    }

    /// SQLite opens the journal, too, only to read if opening it to write fails; it would stay so.
    private func checkJournalIsWritable() throws(VaultError) {
        do throws(VaultError) {
            try execute("BEGIN IMMEDIATE; ROLLBACK")
        } catch {
            switch error.code {
            // Another connection is writing.
            case .busy: return
            case .readOnly where place.journalIsWritable:
                throw VaultError(.storageFailed, reason: "the journal could be opened only to read")
            default: throw error
            }
        }
    }

    func limitLength(to bytes: Int) {
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, CInt(clamping: bytes))
    }

    /// Refuses longer rows than items within the limits have.
    func limitLength(toRowsWithin limits: VaultLimits) {
        limitLength(to: limits.secretBytes + limits.attributeBytes + limits.labelBytes + 1 << 20)
    }

    func execute(_ sql: String) throws(VaultError) {
        let status = SQLiteStatus { sqlite3_exec(handle, sql, nil, nil, nil) }
        guard status.code == SQLITE_OK else { throw error(status, doing: "run a statement") }
    }

    func run(_ sql: String, _ values: Statement.Value...) throws(VaultError) {
        try run(sql, binding: values)
    }

    /// Runs a change in the open transaction, or in one of its own.
    func change(_ sql: String, _ values: Statement.Value...) throws(VaultError) {
        if sqlite3_get_autocommit(handle) == 0 {
            try run(sql, binding: values)
        } else {
            try transaction { () throws(VaultError) in try run(sql, binding: values) }
        }
    }

    private func run(_ sql: String, binding values: [Statement.Value]) throws(VaultError) {
        let statement = try prepare(sql)
        for (index, value) in values.enumerated() { try statement.bind(value, at: CInt(index + 1)) }
        try statement.run()
    }

    func prepare(_ sql: String) throws(VaultError) -> Statement {
        var statement: OpaquePointer?
        let status = SQLiteStatus {
            sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        }
        guard status.code == SQLITE_OK, let statement else { throw error(status, doing: "prepare a statement") }
        return Statement(statement, of: self)
    }

    func integer(_ sql: String) throws(VaultError) -> Int64 {
        let statement = try prepare(sql)
        guard try statement.step() else { throw VaultError(.unreadable, reason: "a value is missing") }
        return statement.integer(at: 0)
    }

    func text(_ sql: String) throws(VaultError) -> String {
        let statement = try prepare(sql)
        guard try statement.step() else { throw VaultError(.unreadable, reason: "a value is missing") }
        return statement.text(at: 0)
    }

    /// Runs `body` in a transaction; rolls back when it throws.
    ///
    /// After an error the change is not in the file, unless the reason says that this is unknown. Throws `displaced`
    /// when another program has replaced or removed the file, before or meanwhile, or has written into it before.
    func transaction<Result>(_ body: () throws(VaultError) -> Result) throws(VaultError) -> Result {
        let stored = try store(body)
        if let doubt = stored.doubt { throw doubt }
        return stored.result
    }

    /// The same, but returns a doubt whether the path leads to the file that has the change; nil if it does.
    ///
    /// For callers who keep in memory what the file has: the file of this connection has the change in either case.
    func store<Result>(
        _ body: () throws(VaultError) -> Result
    ) throws(VaultError) -> (result: Result, doubt: VaultError?) {
        try place.check()
        try requireUntouched()
        try settle()
        try runPrepared("BEGIN IMMEDIATE", &beginning)
        defer { place.holdJournal() }
        let result: Result
        do throws(VaultError) {
            result = try body()
        } catch {
            rollBack()
            throw error
        }
        do throws(VaultError) {
            try runPrepared("COMMIT", &ending)
        } catch {
            rollBack()
            lastCommit = .unsettled
            place.holdJournal()
            throw settled(error)
        }
        let doubt = try doubtOfPlace()
        noteJournal()
        return (result, doubt)
    }

    private func doubtOfPlace() throws(VaultError) -> VaultError? {
        do throws(VaultError) {
            try place.check()
            return nil
        } catch {
            guard error.code != .displaced else { throw error }
            return Self.unknown(error)
        }
    }

    private static func unknown(_ error: VaultError) -> VaultError {
        VaultError(error.code, reason: "\(error.reason); it is unknown whether the change was stored")
    }

    /// Notes how far the journal reaches after a commit with changes.
    private func noteJournal() {
        if mode == .exclusive, frames.pointee > 0 { note.write(frames: Int(frames.pointee)) }
        frames.pointee = 0
    }

    /// Whether another program has written into the file or its journal since the last change, or that is unknown.
    ///
    /// Other connections of SQLite may.
    func isTouched() throws(VaultError) -> Bool {
        try foreignWriting() != .none
    }

    private func foreignWriting() throws(VaultError) -> FilePlace.Writing {
        if mode == .exclusive { try place.foreignWriting() } else { .none }
    }

    private func requireUntouched() throws(VaultError) {
        switch try foreignWriting() {
        case .none: return
        case .found: throw Self.touched
        case .unknown:
            throw VaultError(.displaced, reason: "another program may have written into the file; nothing was stored")
        }
    }

    private static let touched = VaultError(
        .displaced,
        reason: "another program has written into the file; nothing was stored"
    )

    /// Takes note of a change that this process has made to the length of the journal.
    func journalWasExtended() {
        place.holdJournal()
    }

    /// Throws `displaced` when another program has replaced or removed the file.
    func checkPlace() throws(VaultError) {
        try place.check()
    }

    private func rollBack() {
        // After some errors SQLite has already rolled back.
        if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }

    /// Tries at once to undo a failed commit; returns its error, with a word if that fails, too.
    private func settled(_ error: VaultError) -> VaultError {
        do throws(VaultError) {
            try settle()
            return error
        } catch {
            return Self.unknown(error)
        }
    }

    /// Overwrites what a failed commit has left in the journal with a commit that changes nothing.
    ///
    /// The frames of a journal are chained, so that the rest of the failed commit is invalid, too.
    func settle() throws(VaultError) {
        guard case .unsettled = lastCommit else { return }
        // A look that the disk fails does not keep the failed commit in the journal.
        if (try? foreignWriting()) == .found { throw Self.touched }
        try commitNothing()
    }

    /// Commits a transaction that changes nothing.
    func changeNothing() throws(VaultError) {
        try requireUntouched()
        try commitNothing()
    }

    private func commitNothing() throws(VaultError) {
        defer { place.holdJournal() }
        // Written even if the number stays the same, unlike a row.
        try execute("PRAGMA user_version = \(try integer("PRAGMA user_version"))")
        lastCommit = .settled
        noteJournal()
    }

    /// Throws unless all that was acknowledged is in the file that the path leads to.
    func confirm() throws(VaultError) {
        try settle()
        try place.check()
    }

    private func runPrepared(_ sql: String, _ statement: inout OpaquePointer?) throws(VaultError) {
        if statement == nil {
            let status = SQLiteStatus {
                sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
            }
            guard status.code == SQLITE_OK else { throw error(status, doing: "prepare a statement") }
        }
        let status = SQLiteStatus { sqlite3_step(statement) }
        sqlite3_reset(statement)
        guard status.code == SQLITE_DONE else { throw error(status, doing: "run a statement") }
    }

    var changedRows: Int { Int(sqlite3_changes(handle)) }

    /// Moves the journal into the file; returns the number of its frames.
    ///
    /// - Parameters:
    ///   - truncating: whether to empty the journal, so that the file is complete.
    ///   - waiting: whether to wait for other readers; otherwise throws `busy` at once.
    ///
    /// Throws `displaced` when another program has written into the file.
    @discardableResult
    func checkpoint(truncating: Bool = false, waiting: Bool = true) throws(VaultError) -> Int {
        // The pages of the journal would mix with those of the other program.
        try requireUntouched()
        defer { place.hold() }
        if !waiting { sqlite3_busy_timeout(handle, 0) }
        defer { if !waiting { sqlite3_busy_timeout(handle, Self.busyMilliseconds) } }
        var frames: CInt = 0
        var moved: CInt = 0
        let way = truncating ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let status = SQLiteStatus { sqlite3_wal_checkpoint_v2(handle, nil, way, &frames, &moved) }
        guard status.code == SQLITE_OK else { throw error(status, doing: "checkpoint") }
        if mode == .exclusive {
            if truncating { note.clear() } else if moved > 0 { note.write(framesInFile: Int(moved)) }
        }
        return Int(frames)
    }

    func removeJournalWhenClosed() {
        removesJournal = true
        keychaind_sqlite_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    }

    func releaseMemory() {
        sqlite3_db_release_memory(handle)
    }

    func error(_ status: SQLiteStatus, doing what: String) -> VaultError {
        VaultError(status, doing: what, message: Self.message(of: handle))
    }

    private static func message(of handle: OpaquePointer) -> String {
        sqlite3_errmsg(handle).map { text in String(cString: text) } ?? "unknown"
    }

    private static func percentEncoded(_ path: String) -> String {
        var encoded = ""
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                encoded.unicodeScalars.append(UnicodeScalar(byte))
            default:
                encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
        return encoded
    }
}
