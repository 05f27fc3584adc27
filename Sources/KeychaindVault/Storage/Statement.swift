import CKeychaindSQLite
import Glibc

/// A prepared SQL statement; it keeps its connection open.
final class Statement {
    enum Value {
        case integer(Int64)
        case text(String)
        case bytes([UInt8])
    }

    private let handle: OpaquePointer
    private let connection: SQLiteConnection

    init(_ handle: OpaquePointer, of connection: SQLiteConnection) {
        self.handle = handle
        self.connection = connection
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// - Parameter index: the parameter, from 1.
    func bind(_ value: Int64, at index: CInt) throws(VaultError) {
        try check { sqlite3_bind_int64(handle, index, value) }
    }

    /// Copies the bytes.
    func bind(_ bytes: [UInt8], at index: CInt) throws(VaultError) {
        try check { keychaind_sqlite_bind_blob(handle, index, bytes, UInt64(bytes.count)) }
    }

    /// Copies the text.
    func bind(_ text: String, at index: CInt) throws(VaultError) {
        try check { keychaind_sqlite_bind_text(handle, index, text, UInt64(text.utf8.count)) }
    }

    func bind(_ value: Value, at index: CInt) throws(VaultError) {
        switch value {
        case .integer(let value): try bind(value, at: index)
        case .text(let value): try bind(value, at: index)
        case .bytes(let value): try bind(value, at: index)
        }
    }

    /// Steps to the next row; false after the last.
    func step(doing what: String = "read or write a row") throws(VaultError) -> Bool {
        let status = SQLiteStatus { sqlite3_step(handle) }
        switch status.code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let error = connection.error(status, doing: what)
            sqlite3_reset(handle)
            throw error
        }
    }

    func run(doing what: String = "read or write a row") throws(VaultError) {
        _ = try step(doing: what)
        reset()
    }

    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// - Parameter column: the column, from 0.
    func integer(at column: CInt) -> Int64 {
        sqlite3_column_int64(handle, column)
    }

    /// Invalid UTF-8 is replaced.
    func text(at column: CInt) -> String {
        guard let start = sqlite3_column_text(handle, column) else { return "" }
        let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
        return String(decoding: bytes, as: UTF8.self)
    }

    func isNull(at column: CInt) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    /// The bytes are valid until the next step.
    func bytes(at column: CInt) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }

    private func check(_ bind: () -> CInt) throws(VaultError) {
        let status = SQLiteStatus(of: bind)
        guard status.code == SQLITE_OK else { throw connection.error(status, doing: "bind a value") }
    }
}

/// The result of a call to SQLite.
struct SQLiteStatus {
    let code: CInt

    /// The error number of the last failed system call during the call, or zero; SQLite does not record all of them.
    let systemError: CInt

    init(of call: () -> CInt) {
        errno = 0
        code = call()
        systemError = errno
    }
}

extension VaultError {
    init(_ status: SQLiteStatus, doing what: String, message: String?) {
        let isFull = status.systemError == EDQUOT || status.systemError == ENOSPC
        let code: Code
        switch status.code & 0xff {
        // SQLite reports an exceeded disk quota as an I/O error.
        case SQLITE_IOERR where isFull, SQLITE_CANTOPEN where isFull: code = .storageFull
        // A change that fails for lack of memory is rolled back; the disk is fine.
        case SQLITE_NOMEM: code = .limitExceeded
        case SQLITE_IOERR where status.code == keychaind_sqlite_ioerr_nomem: code = .limitExceeded
        case SQLITE_FULL: code = .storageFull
        // The index of the journal could not grow: the disk is full, not broken.
        case SQLITE_IOERR where status.code == keychaind_sqlite_ioerr_shmsize: code = .storageFull
        // Its look at the path found another file, or failed.
        case SQLITE_READONLY where status.code == keychaind_sqlite_readonly_dbmoved: code = .storageFailed
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: code = .readOnly
        case SQLITE_BUSY, SQLITE_LOCKED: code = .busy
        // SQLite calls a file corrupt that the disk does not return.
        case SQLITE_CORRUPT where [EIO, ENXIO, ERANGE].contains(status.systemError): code = .storageFailed
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_SCHEMA, SQLITE_MISMATCH, SQLITE_CONSTRAINT: code = .unreadable
        case SQLITE_TOOBIG: code = .limitExceeded
        default: code = .storageFailed
        }
        self.init(code, reason: "could not \(what): \(message ?? "no reason given") (SQLite error \(status.code))")
    }
}
