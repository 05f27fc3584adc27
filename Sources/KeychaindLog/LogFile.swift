package import CKeychaindLinux
import Glibc

/// The system calls of a log; tests replace some of them.
package struct LogSystem: Sendable {
    package var open: @Sendable (_ path: String, _ flags: CInt) -> CInt = { path, flags in
        Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    }
    package var status: @Sendable (_ path: String, UnsafeMutablePointer<stat>) -> CInt = { lstat($0, $1) }
    package var read: @Sendable (CInt, UnsafeMutableRawPointer, Int, Int) -> Int = { pread($0, $1, $2, off_t($3)) }
    package var write: @Sendable (CInt, UnsafeRawPointer, Int, Int) -> Int = { pwrite($0, $1, $2, off_t($3)) }
    package var synchronize: @Sendable (CInt) -> CInt = { fdatasync($0) }
    package var synchronizeFolder: @Sendable (_ path: String) -> CInt = { path in
        let folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return -1 }
        defer { close(folder) }
        return fsync(folder)
    }
    package var rename: @Sendable (String, String, _ replacing: Bool) -> CInt = { path, newPath, replacing in
        replacing ? Glibc.rename(path, newPath) : keychaind_rename_if_free(AT_FDCWD, path, newPath)
    }
    package var remove: @Sendable (_ path: String) -> CInt = { unlink($0) }

    package init() {}
}

/// An open file, read and written at offsets, in spite of interruptions and parts.
final class LogFile {
    private let system: LogSystem
    private let descriptor: CInt
    private(set) var path: String

    /// The size in bytes, including the room.
    private(set) var size: Int

    /// The status of the file as this process has left it, and whether that is known after its last change.
    private var status = stat()
    private var statusIsCurrent = true

    /// - Parameter isExclusive: locks the file until it is closed; throws `inUse` if somebody else has it locked.
    init(_ path: String, flags: CInt, isExclusive: Bool, _ system: LogSystem) throws(LogError) {
        self.system = system
        self.path = path
        descriptor = system.open(path, flags)
        guard descriptor >= 0 else { throw LogError(errno: errno, "open a file") }
        size = 0
        if isExclusive {
            var result = flock(descriptor, LOCK_EX | LOCK_NB)
            while result != 0, errno == EINTR { result = flock(descriptor, LOCK_EX | LOCK_NB) }
            guard result == 0 else { throw LogError(errno: errno, "lock a file") }
        }
        guard fstat(descriptor, &status) == 0 else { throw LogError(errno: errno, "read the status of a file") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw LogError(.unreadable, "it is not a regular file") }
        size = Int(status.st_size)
        // While this waited, the owner of the lock may have put a new file in the place.
        try requireUntouched()
    }

    deinit {
        // A child that another thread has forked still holds the descriptor until it calls exec.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Returns less than the size of the buffer at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(LogError) -> Int {
        var count = 0
        while count < buffer.count {
            let read = system.read(descriptor, buffer.baseAddress! + count, buffer.count - count, offset + count)
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw LogError(errno: errno, "read a file") }
            if read == 0 { break }
            count += read
        }
        return count
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(LogError) {
        try bytes.span.withUnsafeBytes { (bytes) throws(LogError) in
            var count = 0
            while count < bytes.count {
                let written = system.write(descriptor, bytes.baseAddress! + count, bytes.count - count, offset + count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw LogError(errno: written < 0 ? errno : ENOSPC, "write a file") }
                count += written
                size = max(size, offset + count)
            }
        }
    }

    /// Overwrites bytes with zeros, a page at a time: the kernel may keep a larger write as one unit of its cache, of
    /// which a later change makes all dirty.
    func writeZeros(_ range: Range<Int>) throws(LogError) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let next = min((offset / 4096 + 1) * 4096, range.upperBound)
            try write([UInt8](repeating: 0, count: next - offset), at: offset)
            offset = next
        }
    }

    func isZero(_ range: Range<Int>) throws(LogError) -> Bool {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(range.count, 256 << 10), alignment: 16)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(range.upperBound - offset))
            guard try read(into: part, at: offset) == part.count, UnsafeRawBufferPointer(part).isZero else {
                return false
            }
            offset += part.count
        }
        return true
    }

    func synchronize() throws(LogError) {
        guard system.synchronize(descriptor) == 0 else { throw LogError(errno: errno, "sync a file to the disk") }
    }

    /// Adds zeros to the end of the file, durably; after an error there may be some.
    func grow(to newSize: Int) throws(LogError) {
        defer { restamp() }
        try writeZeros(size..<newSize)
        try synchronize()
    }

    /// Whether another file, or none, was in the place of this one at the last ``restamp()``.
    private(set) var isDisplaced = false

    static let displaced = LogError(.displaced, "another program has replaced or removed the file")

    /// Remembers the file as this process has left it.
    func restamp() {
        statusIsCurrent = false
        var now = stat()
        let isThere = system.status(path, &now) == 0
        // A disk that does not say leaves it open.
        guard isThere || errno == ENOENT else { return }
        isDisplaced = !isThere || !now.isSameFile(as: status)
        if !isDisplaced { (status, size, statusIsCurrent) = (now, Int(now.st_size), true) }
    }

    /// Throws `displaced` unless the path leads to this file, which nobody else has written into.
    func requireUntouched() throws(LogError) {
        guard let now = try status(of: path), now.isSameFile(as: status) else { throw Self.displaced }
        if !statusIsCurrent, now.st_size >= size { (status, size, statusIsCurrent) = (now, Int(now.st_size), true) }
        guard now.isSameContent(as: status) else {
            throw LogError(.displaced, "another program has written into the file")
        }
    }

    /// Nil if the path leads to nothing; throws if the disk does not say.
    private func status(of path: String) throws(LogError) -> stat? {
        var status = stat()
        if system.status(path, &status) == 0 { return status }
        guard errno == ENOENT else { throw LogError(errno: errno, "read the status of a file") }
        return nil
    }

    func rename(to newPath: String, replacing: Bool) throws(LogError) {
        if system.rename(path, newPath, replacing) != 0 {
            let failure = LogError(errno: errno, "rename a file")
            // A network file system may report a failure of what it has done.
            guard try status(of: newPath)?.isSameFile(as: status) == true else { throw failure }
        }
        path = newPath
    }

    func synchronizeFolder() throws(LogError) {
        let folder = path.lastIndex(of: "/").map { slash in String(path[...slash]) } ?? "."
        guard system.synchronizeFolder(folder) == 0 else { throw LogError(errno: errno, "sync a folder to the disk") }
    }

    func remove() { _ = system.remove(path) }
}

extension stat {
    fileprivate func isSameFile(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }

    fileprivate func isSameContent(as other: stat) -> Bool {
        st_size == other.st_size && st_mtim.tv_sec == other.st_mtim.tv_sec && st_mtim.tv_nsec == other.st_mtim.tv_nsec
    }
}
