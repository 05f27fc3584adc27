import CSQLite
import Glibc
import Synchronization
import Testing

/// A disk on which writing fails as a test wishes: SQLite's own files, with another function to write with.
///
/// Only files in a folder of a certain name are on it.
enum FailingDisk {
    /// What a write comes to.
    struct Failure: Sendable {
        /// What SQLite makes of it.
        var status: CInt

        /// What the system says.
        var systemError: CInt = 0
    }

    /// The name of the folders that are on the disk.
    static let folderName = "on-the-failing-disk"

    /// What each write comes to from now on; nil when it succeeds.
    static var failure: Failure? {
        get { current.withLock { failure in failure } }
        set { current.withLock { failure in failure = newValue } }
    }

    /// Lets SQLite know the disk.
    static func plugIn() throws {
        try #require(isPluggedIn)
    }

    private typealias Write =
        @convention(c) (
            UnsafeMutablePointer<sqlite3_file>?, UnsafeRawPointer?, CInt, sqlite3_int64
        ) -> CInt

    private static let current = Mutex<Failure?>(nil)
    private static let originalWrite = Mutex<Write?>(nil)

    // SQLite's own, which nobody changes.
    private nonisolated(unsafe) static let original: UnsafeMutablePointer<sqlite3_vfs>? = sqlite3_vfs_find("unix")

    private static let isPluggedIn: Bool = {
        guard let original else { return false }
        // Never freed, as SQLite demands of what is registered.
        let disk = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        disk.initialize(to: original.pointee)
        disk.pointee.zName = UnsafePointer(strdup("failing"))
        disk.pointee.pNext = nil
        disk.pointee.xOpen = { _, name, file, flags, result in
            guard let original = FailingDisk.original, let open = original.pointee.xOpen else { return SQLITE_CANTOPEN }
            let status = open(original, name, file, flags, result)
            if status == SQLITE_OK, let name, let file, strstr(name, FailingDisk.folderName) != nil {
                FailingDisk.replaceWriting(of: file)
            }
            return status
        }
        return sqlite3_vfs_register(disk, 1) == SQLITE_OK
    }()

    private static func replaceWriting(of file: UnsafeMutablePointer<sqlite3_file>) {
        guard let methods = file.pointee.pMethods else { return }
        originalWrite.withLock { write in write = methods.pointee.xWrite }
        // One a file, which the test's process keeps to its end.
        let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        copy.initialize(to: methods.pointee)
        copy.pointee.xWrite = { file, bytes, count, offset in
            if let failure = FailingDisk.failure {
                errno = failure.systemError
                return failure.status
            }
            guard let write = FailingDisk.originalWrite.withLock({ write in write }) else { return SQLITE_IOERR }
            return write(file, bytes, count, offset)
        }
        file.pointee.pMethods = UnsafePointer(copy)
    }
}
