import CKeychaindSQLite
import Glibc
import Synchronization
import Testing

/// A disk on which reads, writes or syncs fail on demand: SQLite's file system with other functions for these.
///
/// Each test has one of its own: it applies to the files in one folder.
struct FailingDisk: Sendable {
    /// A failure, once or until it is taken away.
    struct Failure: Sendable {
        enum Operation: Sendable {
            /// Fails to write: SQLite then opens the file only to read.
            case open
            case read, write, sync
            /// SQLite's look at the path finds another file.
            case look
        }

        var operation = Operation.write

        /// The database that it meets, with its journal; nil for all.
        ///
        /// Threads of the vault write others at any time.
        var database: String?

        /// How many operations work before.
        var after = 0

        /// How often it happens; nil for always.
        var times: Int?

        /// The result code of SQLite.
        var status: CInt

        /// The error number of the system.
        var systemError: CInt = 0

        /// Runs before a sync that works, in place of the failure.
        var beforeSync: (@Sendable () -> Void)?
    }

    /// The status of a read that returns the first half: SQLite takes that for the end of the file.
    static let shortRead = SQLITE_IOERR | 2 << 8

    /// The name of the affected folder.
    static let folderName = "on-the-failing-disk"

    private let name: Substring

    /// Makes the folder, in a folder whose name no other test has.
    init(in folder: TemporaryFolder) throws {
        try #require(Self.isPluggedIn)
        try folder.makeFolder(Self.folderName)
        name = try #require(Place(of: folder.file(Self.folderName) + "/file")).disk
    }

    /// The failure from now on; nil for none.
    var failure: Failure? {
        get { Self.failures.withLock { failures in failures[name] } }
        nonmutating set { Self.failures.withLock { failures in failures[name] = newValue } }
    }

    /// A file on such a disk.
    private struct Place {
        /// The name of the folder that has the affected folder.
        let disk: Substring
        let file: Substring

        init?(of path: String) {
            let parts = path.split(separator: "/")
            guard let folder = parts.lastIndex(of: FailingDisk.folderName[...]), folder > 0, let file = parts.last
            else {
                return nil
            }
            disk = parts[folder - 1]
            self.file = file
        }
    }

    private typealias Write =
        @convention(c) (
            UnsafeMutablePointer<sqlite3_file>?, UnsafeRawPointer?, CInt, sqlite3_int64
        ) -> CInt

    private typealias Read =
        @convention(c) (
            UnsafeMutablePointer<sqlite3_file>?, UnsafeMutableRawPointer?, CInt, sqlite3_int64
        ) -> CInt

    private typealias Sync = @convention(c) (UnsafeMutablePointer<sqlite3_file>?, CInt) -> CInt

    private typealias Control =
        @convention(c) (UnsafeMutablePointer<sqlite3_file>?, CInt, UnsafeMutableRawPointer?) -> CInt

    /// By the names of the disks.
    private static let failures = Mutex<[Substring: Failure]>([:])
    private static let originalWrite = Mutex<Write?>(nil)
    private static let originalRead = Mutex<Read?>(nil)
    private static let originalSync = Mutex<Sync?>(nil)
    private static let originalControl = Mutex<Control?>(nil)

    /// The open files, by the addresses of SQLite's objects.
    private static let places = Mutex<[UInt: Place]>([:])

    /// The failure of an operation on a file that is due now.
    private static func take(
        _ operation: Failure.Operation,
        on file: UnsafeMutablePointer<sqlite3_file>?
    ) -> Failure? {
        guard let place = places.withLock({ places in places[UInt(bitPattern: file)] }) else { return nil }
        return take(operation, on: place)
    }

    private static func take(_ operation: Failure.Operation, on place: Place) -> Failure? {
        failures.withLock { failures in
            guard let failure = failures[place.disk], failure.operation == operation else { return nil }
            if let database = failure.database {
                guard ["", "-journal", "-wal"].contains(where: { place.file == database + $0 }) else { return nil }
            }
            if failure.after > 0 {
                failures[place.disk]?.after = failure.after - 1
                return nil
            }
            if let times = failure.times {
                failures[place.disk]?.times = times - 1
                if times == 1 { failures[place.disk] = nil }
            }
            return failure
        }
    }

    // SQLite's own, never changed.
    private nonisolated(unsafe) static let original: UnsafeMutablePointer<sqlite3_vfs>? = sqlite3_vfs_find("unix")

    private static let isPluggedIn: Bool = {
        guard let original else { return false }
        // Never freed: SQLite requires that.
        let disk = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        disk.initialize(to: original.pointee)
        disk.pointee.zName = UnsafePointer(strdup("failing"))
        disk.pointee.pNext = nil
        disk.pointee.xOpen = { _, name, file, flags, result in
            guard let original = FailingDisk.original, let open = original.pointee.xOpen else { return SQLITE_CANTOPEN }
            guard let name, let file, strstr(name, FailingDisk.folderName) != nil,
                let place = Place(of: String(cString: name))
            else { return open(original, name, file, flags, result) }
            var flags = flags
            if FailingDisk.take(.open, on: place) != nil {
                flags = flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_READONLY
            }
            let status = open(original, name, file, flags, result)
            if status == SQLITE_OK {
                FailingDisk.places.withLock { places in places[UInt(bitPattern: file)] = place }
                FailingDisk.replaceFunctions(of: file)
            }
            return status
        }
        return sqlite3_vfs_register(disk, 1) == SQLITE_OK
    }()

    private static func replaceFunctions(of file: UnsafeMutablePointer<sqlite3_file>) {
        guard let methods = file.pointee.pMethods else { return }
        originalWrite.withLock { write in write = methods.pointee.xWrite }
        originalRead.withLock { read in read = methods.pointee.xRead }
        originalSync.withLock { sync in sync = methods.pointee.xSync }
        originalControl.withLock { control in control = methods.pointee.xFileControl }
        // One per file, for the life of the test process.
        let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        copy.initialize(to: methods.pointee)
        copy.pointee.xWrite = { file, bytes, count, offset in
            if let failure = FailingDisk.take(.write, on: file) {
                errno = failure.systemError
                return failure.status
            }
            guard let write = FailingDisk.originalWrite.withLock({ write in write }) else { return SQLITE_IOERR }
            return write(file, bytes, count, offset)
        }
        copy.pointee.xRead = { file, bytes, count, offset in
            guard let read = FailingDisk.originalRead.withLock({ read in read }) else { return SQLITE_IOERR }
            guard let failure = FailingDisk.take(.read, on: file) else { return read(file, bytes, count, offset) }
            if failure.status == FailingDisk.shortRead, read(file, bytes, count, offset) == SQLITE_OK, let bytes {
                let half = Int(count) / 2
                memset(bytes + half, 0, Int(count) - half)
            }
            errno = failure.systemError
            return failure.status
        }
        copy.pointee.xSync = { file, flags in
            if let failure = FailingDisk.take(.sync, on: file) {
                guard let beforeSync = failure.beforeSync else {
                    errno = failure.systemError
                    return failure.status
                }
                beforeSync()
            }
            guard let sync = FailingDisk.originalSync.withLock({ sync in sync }) else { return SQLITE_IOERR }
            return sync(file, flags)
        }
        copy.pointee.xFileControl = { file, operation, argument in
            if operation == SQLITE_FCNTL_HAS_MOVED, let argument, FailingDisk.take(.look, on: file) != nil {
                argument.assumingMemoryBound(to: CInt.self).pointee = 1
                return SQLITE_OK
            }
            let control = FailingDisk.originalControl.withLock { control in control }
            return control?(file, operation, argument) ?? SQLITE_NOTFOUND
        }
        file.pointee.pMethods = UnsafePointer(copy)
    }
}
