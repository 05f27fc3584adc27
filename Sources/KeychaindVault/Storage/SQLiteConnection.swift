import CKeychaindLinux
import CKeychaindSQLite
import Glibc

/// A connection to an SQLite file; it closes with the last of its statements.
///
/// It distrusts the file: triggers, views and functions in the schema do not run, and pages are checked when they are
/// read. Closing never checkpoints, so a damaged file is not written to.
final class SQLiteConnection {
    // The wait for another connection.
    private static let busyMilliseconds: CInt = 2000

    private let handle: OpaquePointer
    /// The frames of the journal after the last commit; SQLite's hook writes it.
    private let frames: UnsafeMutablePointer<CInt>

    init(path: String, mode: Database.Mode) throws(VaultError) {
        handle = try Self.open(path, mode)
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
        sqlite3_close_v2(handle)
        frames.deallocate()
    }

    private static func open(_ path: String, _ mode: Database.Mode) throws(VaultError) -> OpaquePointer {
        var handle: OpaquePointer?
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var name = path
        switch mode {
        case .exclusive, .shared:
            flags |= SQLITE_OPEN_READWRITE
            try checkJournals(of: path)
        case .immutable:
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            name = "file:" + percentEncoded(path) + "?immutable=1"
        }
        let status = SQLiteStatus { sqlite3_open_v2(name, &handle, flags, nil) }
        guard status.code == SQLITE_OK, let handle else {
            let error = VaultError(status, doing: "open", message: handle.map(message))
            sqlite3_close_v2(handle)
            throw error
        }
        // SQLite opens a file only to read if opening it to write fails, for whatever cause.
        if flags & SQLITE_OPEN_READWRITE != 0, sqlite3_db_readonly(handle, "main") == 1, Folder.isWritable(path) {
            sqlite3_close_v2(handle)
            throw VaultError(.storageFailed, reason: "the file could be opened only to read")
        }
        return handle
    }

    /// Throws unless the journals, also that of another mode than ours, are regular files, or there are none.
    ///
    /// SQLite opens them by name, and would wait for the other end of a named pipe.
    private static func checkJournals(of path: String) throws(VaultError) {
        for suffix in ["-wal", "-journal"] {
            guard let status = try Look.at(path + suffix), status.st_mode & S_IFMT != S_IFREG else { continue }
            throw VaultError(.storageFailed, reason: "its journal is not a regular file")
        }
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

    func execute(_ sql: String) throws(VaultError) {
        let status = SQLiteStatus { sqlite3_exec(handle, sql, nil, nil, nil) }
        guard status.code == SQLITE_OK else { throw error(status, doing: "run a statement") }
    }

    func prepare(_ sql: String) throws(VaultError) -> Statement {
        var statement: OpaquePointer?
        let status = SQLiteStatus {
            sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        }
        guard status.code == SQLITE_OK, let statement else { throw error(status, doing: "prepare a statement") }
        return Statement(statement, of: self)
    }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    var changedRows: Int { Int(sqlite3_changes(handle)) }

    func limitLength(to bytes: Int) {
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, CInt(clamping: bytes))
    }

    func releaseMemory() {
        sqlite3_db_release_memory(handle)
    }

    /// Counts the frames of the journal from now on.
    func countFrames() {
        // The same hook as that of automatic checkpoints, which must be off.
        _ = sqlite3_wal_hook(
            handle,
            { frames, _, _, count in
                frames?.assumingMemoryBound(to: CInt.self).pointee = count
                return SQLITE_OK
            },
            frames
        )
    }

    /// The frames of the journal after the last commit; zero if there was none since the last call.
    func takeFrames() -> Int {
        defer { frames.pointee = 0 }
        return Int(frames.pointee)
    }

    /// Moves the journal into the file; returns the number of its frames, and of those in the file.
    func checkpoint(truncating: Bool, waiting: Bool) throws(VaultError) -> (frames: Int, moved: Int) {
        if !waiting { sqlite3_busy_timeout(handle, 0) }
        defer { if !waiting { sqlite3_busy_timeout(handle, Self.busyMilliseconds) } }
        var frames: CInt = 0
        var moved: CInt = 0
        let way = truncating ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let status = SQLiteStatus { sqlite3_wal_checkpoint_v2(handle, nil, way, &frames, &moved) }
        guard status.code == SQLITE_OK else { throw error(status, doing: "checkpoint") }
        return (Int(frames), Int(moved))
    }

    func checkpointWhenClosed() {
        keychaind_sqlite_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    }

    func error(_ status: SQLiteStatus, doing what: String) -> VaultError {
        VaultError(status, doing: what, message: Self.message(of: handle))
    }

    private static func message(of handle: OpaquePointer) -> String {
        sqlite3_errmsg(handle).map { text in String(cString: text) } ?? "unknown"
    }
}
