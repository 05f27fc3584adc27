import CSQLite
import Glibc

extension VaultError {
    /// Converts a failed call of SQLite.
    init(_ status: SQLiteStatus, doing what: String, message: String?) {
        let isFull = status.systemError == EDQUOT || status.systemError == ENOSPC
        let code: Code
        switch status.code & 0xff {
        // SQLite reports an exceeded disk quota as an I/O error.
        case SQLITE_IOERR where isFull, SQLITE_CANTOPEN where isFull: code = .storageFull
        // A change that fails for lack of memory is rolled back; the disk is fine.
        case SQLITE_NOMEM: code = .limitExceeded
        case SQLITE_IOERR where status.code == SQLITE_IOERR | 12 << 8: code = .limitExceeded
        case SQLITE_FULL: code = .storageFull
        // The index of the journal could not grow: the disk is full, not broken.
        case SQLITE_IOERR where status.code == SQLITE_IOERR | 19 << 8: code = .storageFull
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: code = .readOnly
        case SQLITE_BUSY, SQLITE_LOCKED: code = .busy
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_SCHEMA, SQLITE_MISMATCH, SQLITE_CONSTRAINT: code = .unreadable
        case SQLITE_TOOBIG: code = .limitExceeded
        default: code = .storageFailed
        }
        self.init(code, reason: "could not \(what): \(message ?? "no reason given") (SQLite error \(status.code))")
    }
}
