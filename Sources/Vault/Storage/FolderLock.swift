import Glibc

/// The right to use a vault's folder: a lock that the kernel takes back when the process ends, however it ends.
///
/// It belongs to the open file, not to the process, so a second vault in one process is shut out too.
struct FolderLock: ~Copyable, Sendable {
    private let descriptor: CInt

    /// Takes the lock on `lock` in the folder; `inUse` at once when somebody has it.
    init(_ folder: Folder) throws(VaultError) {
        let flags = O_CLOEXEC | O_NOFOLLOW | O_RDONLY
        var descriptor = open(folder.file("lock"), flags | O_CREAT, 0o600)
        if descriptor < 0, errno == EROFS || errno == EACCES {
            // A folder that cannot be written may hold the file already; and if not, the folder itself can be locked.
            descriptor = open(folder.file("lock"), flags)
            if descriptor < 0 { descriptor = open(folder.path, O_CLOEXEC | O_RDONLY | O_DIRECTORY) }
        }
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
        // Closing alone would leave it with a child that a thread of this process has forked and that has not yet executed.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
