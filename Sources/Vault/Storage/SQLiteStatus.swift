import Glibc

/// The result of an SQLite call.
struct SQLiteStatus {
    /// The result code, possibly extended.
    let code: CInt

    /// The error number of the last failed system call during the call, or zero.
    ///
    /// SQLite does not record all of them.
    let systemError: CInt

    /// Runs a call.
    init(of call: () -> CInt) {
        errno = 0
        code = call()
        systemError = errno
    }
}
