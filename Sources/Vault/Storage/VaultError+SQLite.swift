import CSQLite

extension VaultError {
    /// The failure that an SQLite result code, extended or not, stands for.
    init(sqlite status: CInt, doing what: String, message: String?) {
        let code: Code
        switch status & 0xff {
        case SQLITE_FULL: code = .storageFull
        // The index of the journal could not grow: the disk is full, not broken.
        case SQLITE_IOERR where status == SQLITE_IOERR | 19 << 8: code = .storageFull
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: code = .readOnly
        case SQLITE_BUSY, SQLITE_LOCKED: code = .busy
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_SCHEMA, SQLITE_MISMATCH, SQLITE_CONSTRAINT: code = .unreadable
        case SQLITE_TOOBIG: code = .limitExceeded
        default: code = .storageFailed
        }
        self.init(code, reason: "could not \(what): \(message ?? "no reason given") (SQLite error \(status))")
    }
}
