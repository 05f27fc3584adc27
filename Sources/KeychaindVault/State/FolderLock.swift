import CKeychaindLinux
import Glibc

/// The lock on a vault's folder; the kernel releases it when the process ends.
///
/// It belongs to the open file, not to the process, so it also excludes a second vault in the same process.
struct FolderLock: ~Copyable, Sendable {
    static let name = "lock"

    private let descriptor: CInt

    /// Throws `inUse` at once when the folder is taken.
    init(_ folder: Folder) throws(VaultError) {
        // Opening a named pipe would wait for a writer.
        let flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_RDONLY
        var descriptor = open(folder.file(Self.name), flags | O_CREAT, 0o600)
        if descriptor < 0, errno == EROFS || errno == EACCES {
            // A read-only folder may have the file already; otherwise the folder itself is locked.
            descriptor = open(folder.file(Self.name), flags)
            if descriptor < 0 { descriptor = open(folder.path, O_CLOEXEC | O_RDONLY | O_DIRECTORY) }
        }
        guard descriptor >= 0 else { throw VaultError(errno: errno, doing: "open the lock") }
        var status = stat()
        guard fstat(descriptor, &status) == 0, [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
            close(descriptor)
            throw VaultError(.storageFailed, reason: "the lock of the data folder is not a regular file")
        }
        try self.init(owning: descriptor)
    }

    /// Locks what `open` has returned, whatever kind of file it is.
    init(owning descriptor: CInt) throws(VaultError) {
        guard descriptor >= 0 else { throw VaultError(errno: errno, doing: "open the lock") }
        var result = flock(descriptor, LOCK_EX | LOCK_NB)
        while result != 0, errno == EINTR { result = flock(descriptor, LOCK_EX | LOCK_NB) }
        guard result == 0 else {
            let failure = errno
            close(descriptor)
            if failure == EWOULDBLOCK {
                throw VaultError(.inUse, reason: "another process uses the data folder")
            }
            throw VaultError(errno: failure, doing: "lock the data folder")
        }
        self.descriptor = descriptor
    }

    deinit {
        // A child that another thread has forked still holds the descriptor until it calls exec.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
