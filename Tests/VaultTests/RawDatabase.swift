import CKeychaindSQLite
import Testing

/// Changes a database without the vault.
struct RawDatabase: ~Copyable {
    private let handle: OpaquePointer

    init(_ path: String) throws {
        var handle: OpaquePointer?
        try #require(sqlite3_open(path, &handle) == SQLITE_OK)
        self.handle = try #require(handle)
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    /// Runs statements.
    func execute(_ sql: String) throws {
        let status = sqlite3_exec(handle, sql, nil, nil, nil)
        try #require(status == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
    }

    /// Returns the first column of the first row.
    func text(_ sql: String) throws -> String {
        var statement: OpaquePointer?
        try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        try #require(sqlite3_step(statement) == SQLITE_ROW)
        return String(cString: sqlite3_column_text(statement, 0))
    }
}
