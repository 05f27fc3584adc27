import Glibc

/// What came of a call of SQLite.
struct SQLiteStatus {
    /// The result code, extended or not.
    let code: CInt

    /// What the last system call said that failed meanwhile; zero if none did.
    ///
    /// SQLite notes it too, but not for each of its own failures.
    let systemError: CInt

    /// Makes a call.
    init(of call: () -> CInt) {
        errno = 0
        code = call()
        systemError = errno
    }
}
