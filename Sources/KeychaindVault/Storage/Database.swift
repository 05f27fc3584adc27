/// An SQLite file whose changes are durable; used by one thread at a time.
///
/// Before each change, it looks whether another program has replaced the file or written into it.
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

    let mode: Mode
    let connection: SQLiteConnection
    let place: FilePlace
    /// Nil unless the connection is the only one: for several, SQLite writes the mark itself.
    let note: JournalNote?
    private var lastCommit = Commit.settled
    private var removesJournal = false

    // Prepared once, used by every transaction.
    private var beginning: Statement?
    private var ending: Statement?

    /// The state of the last transaction on the disk.
    private enum Commit {
        case settled
        /// A commit has failed, but the journal may hold all of it; who reads the file next would take it for valid.
        case unsettled
    }

    init(path: String, mode: Mode) throws(VaultError) {
        self.mode = mode
        connection = try SQLiteConnection(path: path, mode: mode)
        place = FilePlace(path, isAlone: mode == .exclusive)
        note = mode == .exclusive ? JournalNote(path) : nil
    }

    deinit {
        if removesJournal, place.hasFile { note?.remove() }
    }

    func removeJournalWhenClosed() {
        removesJournal = true
        connection.checkpointWhenClosed()
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

    /// Runs `body` in a transaction, and returns a failure to check the path after the commit as a doubt.
    ///
    /// With a doubt, it is unknown whether the path still leads to the file that has the change. For callers who keep
    /// in memory what the file has: the file of this connection has the change in either case.
    func store<Result>(
        _ body: () throws(VaultError) -> Result
    ) throws(VaultError) -> (result: Result, doubt: VaultError?) {
        try place.check()
        try place.requireUntouched()
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

    private func rollBack() {
        // After some errors SQLite has already rolled back.
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
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
        if (try? place.foreignWriting()) == .found { throw FilePlace.touched }
        try commitNothing()
    }

    /// Commits a transaction that changes nothing.
    func changeNothing() throws(VaultError) {
        try place.requireUntouched()
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

    /// Whether another program has written into the file or its journal since the last change, or that is unknown.
    ///
    /// Other connections of SQLite may.
    func isTouched() throws(VaultError) -> Bool {
        try place.isTouched()
    }

    /// Throws `displaced` when another program has replaced or removed the file.
    func checkPlace() throws(VaultError) {
        try place.check()
    }

    private func runPrepared(_ sql: String, _ statement: inout Statement?) throws(VaultError) {
        if let statement { return try statement.run(doing: "run a statement") }
        let prepared = try connection.prepare(sql)
        statement = prepared
        try prepared.run(doing: "run a statement")
    }
}
