import CLinux
import Glibc

extension Folder {
    /// What has to be free on the disk for room to be kept that may never be needed.
    private static let freeBytesNeeded: UInt = 64 << 20
    // A page. What is written at once, the kernel may keep in memory as one piece, of which a later change counts as a change of all
    // of it.
    private static let blockSize = 4 << 10

    /// Lengthens a file with zeros, durably, so that a later sync of what overwrites them has no new length to keep.
    ///
    /// The blocks are written, not only set aside, for the file system would have to note the first write to each. Nothing happens to a
    /// file that is as long, or where the disk is nearly full; a file that could not be lengthened is as long as it was. Nobody else may
    /// lengthen the file meanwhile.
    func reserve(_ name: String, bytes size: Int) throws(VaultError) {
        let descriptor = Glibc.open(file(name), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw VaultError(errno: errno, doing: "open a file to lengthen it") }
        defer { close(descriptor) }
        var status = stat()
        var disk = statvfs()
        guard fstat(descriptor, &status) == 0, fstatvfs(descriptor, &disk) == 0 else {
            throw VaultError(errno: errno, doing: "look at a file")
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
                throw VaultError(errno: failure, doing: "lengthen a file")
            }
            end += written
        }
        guard fdatasync(descriptor) == 0 else { throw VaultError(errno: errno, doing: "sync to the disk") }
    }
}
