import CLinux
import Glibc

extension Folder {
    /// The free disk space required for a reservation.
    private static let freeBytesNeeded: UInt = 64 << 20
    // One page. The kernel may cache a larger write as one unit, and a later change then dirties all of it.
    private static let blockSize = 4 << 10

    /// Extends a file with zeros, durably, so that a sync after overwriting them has no new length to store.
    ///
    /// The blocks are written, not only allocated: the file system would have to record the first write to each. Does
    /// nothing when the file is long enough or the disk nearly full; restores the length after a failure. Nobody else
    /// may extend the file meanwhile.
    func reserve(_ name: String, bytes size: Int) throws(VaultError) {
        let descriptor = Glibc.open(file(name), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw VaultError(errno: errno, doing: "open a file to extend it") }
        defer { close(descriptor) }
        var status = stat()
        var disk = statvfs()
        guard fstat(descriptor, &status) == 0, fstatvfs(descriptor, &disk) == 0 else {
            throw VaultError(errno: errno, doing: "read a file's status")
        }
        let length = Int(status.st_size)
        guard length < size, disk.f_bavail >= Self.freeBytesNeeded / max(1, disk.f_frsize) else { return }
        let zeros = [UInt8](repeating: 0, count: Self.blockSize)
        var end = length
        while end < size {
            let written = pwrite(descriptor, zeros, min(zeros.count, size - end), off_t(end))
            guard written > 0 else {
                if written < 0, errno == EINTR { continue }
                let failure = errno
                ftruncate(descriptor, off_t(length))
                throw VaultError(errno: failure, doing: "extend a file")
            }
            end += written
        }
        guard fdatasync(descriptor) == 0 else { throw VaultError(errno: errno, doing: "sync to the disk") }
    }
}
