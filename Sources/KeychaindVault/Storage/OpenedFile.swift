import CKeychaindLinux
import Glibc

/// An open file, read and written at offsets, in spite of interruptions and parts.
package struct OpenedFile: ~Copyable, Sendable {
    let descriptor: CInt

    private static let chunk = 256 << 10

    package init(owning descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Follows no link.
    init(_ path: String, flags: CInt) throws(VaultError) {
        let opened = open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard opened >= 0 else { throw VaultError(errno: errno, doing: "open a file") }
        descriptor = opened
    }

    /// The identity of the file, which changes with its contents.
    func identity() throws(VaultError) -> UserFolder.Identity {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw VaultError(errno: errno, doing: "read a file's status") }
        return UserFolder.Identity(status)
    }

    /// Copies the file durably into an empty one; throws `limitExceeded` when it is larger or grows past the limit.
    func copy(
        to target: borrowing OpenedFile,
        maximumSize: Int64,
        _ stop: CopyStop = CopyStop()
    ) throws(VaultError) {
        var buffer = [UInt8](repeating: 0, count: Self.chunk)
        var offset: Int64 = 0
        while true {
            let count = try read(into: &buffer, at: offset)
            try stop.check()
            if count == 0 { break }
            guard offset + Int64(count) <= maximumSize else {
                throw VaultError(.limitExceeded, reason: "the file is too long")
            }
            try target.write(buffer, count: count, at: offset)
            offset += Int64(count)
        }
        try target.synchronize()
    }

    /// Copies a file that somebody else opened; it must be a regular file.
    func copyPlainFile(
        to target: borrowing OpenedFile,
        maximumSize: Int64,
        _ stop: CopyStop = CopyStop()
    ) throws(VaultError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw VaultError(.unreadable, reason: "it is not a regular file")
        }
        guard status.st_size <= maximumSize else {
            throw VaultError(.limitExceeded, reason: "a keychain to restore can have at most \(maximumSize >> 20) MiB")
        }
        try copy(to: target, maximumSize: maximumSize, stop)
    }

    /// Whether both files have the same bytes on the disk.
    func hasSameBytes(as other: borrowing OpenedFile) throws(VaultError) -> Bool {
        // Drops the page cache, so that the bytes are read from the disk.
        posix_fadvise(other.descriptor, 0, 0, POSIX_FADV_DONTNEED)
        var first = [UInt8](repeating: 0, count: Self.chunk)
        var second = first
        var offset: Int64 = 0
        while true {
            let count = try read(into: &first, at: offset)
            guard try other.read(into: &second, at: offset) == count, first[..<count] == second[..<count] else {
                return false
            }
            if count == 0 { return true }
            offset += Int64(count)
        }
    }

    func bytes(maximumSize: Int64) throws(VaultError) -> [UInt8] {
        let size = try identity().size
        guard size <= maximumSize else { throw VaultError(.limitExceeded, reason: "the file is too long") }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let count = try read(into: &bytes, at: 0)
        return Array(bytes[..<count])
    }

    func write(_ text: String) throws(VaultError) {
        try write(Array(text.utf8))
        try synchronize()
    }

    func write(_ bytes: [UInt8]) throws(VaultError) {
        try write(bytes, count: bytes.count, at: 0)
    }

    func synchronize() throws(VaultError) {
        guard fsync(descriptor) == 0 else { throw VaultError(errno: errno, doing: "sync to the disk") }
    }

    func read(into buffer: inout [UInt8], at offset: Int64) throws(VaultError) -> Int {
        try buffer.withUnsafeMutableBytes { bytes in
            Result { () throws(VaultError) in try read(into: bytes, at: offset) }
        }.get()
    }

    private func write(_ bytes: [UInt8], count: Int, at offset: Int64) throws(VaultError) {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(VaultError) in
                try write(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), at: offset)
            }
        }.get()
    }

    /// Returns less than the size of the buffer at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(VaultError) -> Int {
        var count = 0
        while count < buffer.count {
            let place = off_t(offset) + off_t(count)
            let read = pread(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count, place)
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw VaultError(errno: errno, doing: "read a file") }
            if read == 0 { break }
            count += read
        }
        return count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(VaultError) {
        var done = 0
        while done < bytes.count {
            let place = off_t(offset) + off_t(done)
            let written = pwrite(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done, place)
            if written < 0, errno == EINTR { continue }
            guard written >= 0 else { throw VaultError(errno: errno, doing: "write a file") }
            guard written > 0 else { throw VaultError(.storageFull, reason: "could not write all of a file") }
            done += written
        }
    }
}
