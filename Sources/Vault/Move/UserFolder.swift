import CLinux
import Glibc
import Rights

/// A folder of the user's that anybody of the user's programs may change at any moment: held by a descriptor, used with the user's
/// rights, no link followed.
struct UserFolder: ~Copyable {
    /// What tells a file from another that has its name later.
    struct Identity: Equatable, Sendable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var seconds: Int64
        var nanoseconds: Int64

        init(_ status: stat) {
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
            size = Int64(status.st_size)
            seconds = Int64(status.st_mtim.tv_sec)
            nanoseconds = Int64(status.st_mtim.tv_nsec)
        }

        init(device: UInt64, inode: UInt64, size: Int64, seconds: Int64, nanoseconds: Int64) {
            self.device = device
            self.inode = inode
            self.size = size
            self.seconds = seconds
            self.nanoseconds = nanoseconds
        }
    }

    /// The most entries that are looked at.
    private static let maximumEntries = 4096

    private let descriptor: CInt

    private init(owning descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Opens a folder that has to be the user's own, and no link; nil when there is none.
    ///
    /// - Parameter followingLinks: whether it may be a link, and somebody else's.
    static func open(_ path: String, followingLinks: Bool = false) throws(VaultError) -> UserFolder? {
        try open(path, in: AT_FDCWD, followingLinks: followingLinks)
    }

    /// Opens a folder in this one; nil when there is none.
    func folder(_ name: String) throws(VaultError) -> UserFolder? {
        try Self.open(name, in: descriptor)
    }

    private static func open(
        _ path: String,
        in base: CInt,
        followingLinks: Bool = false
    ) throws(VaultError) -> UserFolder? {
        try UserRights.perform { () throws(VaultError) in
            let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
            let descriptor = openat(base, path, followingLinks ? flags : flags | O_NOFOLLOW)
            guard descriptor >= 0 else {
                if errno == ENOENT { return nil }
                throw VaultError(errno: errno, doing: "open the folder \(path)")
            }
            let folder = UserFolder(owning: descriptor)
            var status = stat()
            guard fstat(descriptor, &status) == 0, followingLinks || status.st_uid == geteuid() else {
                throw VaultError(.readOnly, reason: "the folder \(path) belongs to somebody else")
            }
            return folder
        }
    }

    /// Makes a folder in this one unless there is one, for the user alone, and opens it.
    func makeFolder(_ name: String) throws(VaultError) -> UserFolder {
        try UserRights.perform { () throws(VaultError) in
            guard mkdirat(descriptor, name, 0o700) == 0 || errno == EEXIST else {
                throw VaultError(errno: errno, doing: "make the folder \(name)")
            }
        }
        guard let folder = try folder(name) else {
            throw VaultError(.storageFailed, reason: "the folder \(name) is gone")
        }
        return folder
    }

    /// Takes the right to read and write from everybody but the user.
    func closeToOthers() throws(VaultError) {
        guard fchmod(descriptor, 0o700) == 0 else { throw VaultError(errno: errno, doing: "protect the folder") }
    }

    /// The names of what is in the folder, rising; of very many, some.
    func names() throws(VaultError) -> [String] {
        let copy = try UserRights.perform { () throws(VaultError) in
            openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard copy >= 0, let listing = fdopendir(copy) else { throw VaultError(errno: errno, doing: "list the folder") }
        defer { closedir(listing) }
        var names: [String] = []
        while names.count < Self.maximumEntries, let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { text in String(cString: text) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Whether there is something of that name, a broken link included.
    func contains(_ name: String) -> Bool {
        identity(of: name) != nil
    }

    /// What is at a name, without following a link; nil when there is nothing.
    func identity(of name: String) -> Identity? {
        let identity = try? UserRights.perform { () throws(VaultError) -> Identity? in
            var status = stat()
            return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? Identity(status) : nil
        }
        return identity ?? nil
    }

    /// Opens a plain file of the user's to read it.
    ///
    /// Throws `unreadable`, with the reason, for a link, a pipe, somebody else's file, and one that is too long.
    func read(_ name: String, maximumSize: Int64) throws(VaultError) -> OpenedFile {
        try UserRights.perform { () throws(VaultError) in
            // A pipe would otherwise be waited for.
            let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
            guard file >= 0 else {
                if errno == ELOOP { throw VaultError(.unreadable, reason: "it is a symbolic link") }
                throw VaultError(errno: errno, doing: "open it")
            }
            let opened = OpenedFile(owning: file)
            var status = stat()
            guard fstat(file, &status) == 0 else { throw VaultError(errno: errno, doing: "look at it") }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw VaultError(.unreadable, reason: "it is not a plain file")
            }
            guard status.st_uid == geteuid() else {
                throw VaultError(.unreadable, reason: "it belongs to somebody else")
            }
            guard status.st_size <= maximumSize else { throw VaultError(.unreadable, reason: "it is too long") }
            return opened
        }
    }

    /// Makes a file that must not be there, for the user alone.
    func make(_ name: String) throws(VaultError) -> OpenedFile {
        try UserRights.perform { () throws(VaultError) in
            let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            let file = openat(descriptor, name, flags, 0o600)
            guard file >= 0 else { throw VaultError(errno: errno, doing: "make \(name)") }
            return OpenedFile(owning: file)
        }
    }

    /// Opens the lock of a vault in the folder, and takes it; `inUse` at once when somebody has it.
    func lock() throws(VaultError) -> OpenedFile {
        let file = try UserRights.perform { () throws(VaultError) in
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
            var file = openat(descriptor, "lock", flags | O_CREAT, 0o600)
            // As FolderLock does: a folder that cannot be written can be locked itself.
            if file < 0, errno == EROFS || errno == EACCES {
                file = openat(descriptor, "lock", flags)
                if file < 0 { file = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
            }
            guard file >= 0 else { throw VaultError(errno: errno, doing: "open the lock") }
            return OpenedFile(owning: file)
        }
        guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw VaultError(.inUse, reason: "another process uses the folder")
        }
        return file
    }

    /// Removes a file; it is no error when there is none.
    func remove(_ name: String) throws(VaultError) {
        try UserRights.perform { () throws(VaultError) in
            guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
                throw VaultError(errno: errno, doing: "remove \(name)")
            }
        }
    }

    /// Removes a folder if it is empty.
    func removeFolder(_ name: String) {
        try? UserRights.perform { () throws(VaultError) in _ = unlinkat(descriptor, name, AT_REMOVEDIR) }
    }

    /// Gives a file another name, in place of a file that has it.
    func rename(_ name: String, to newName: String) throws(VaultError) {
        try UserRights.perform { () throws(VaultError) in
            guard renameat(descriptor, name, descriptor, newName) == 0 else {
                throw VaultError(errno: errno, doing: "rename \(name)")
            }
        }
    }

    /// Gives a file another name, which no other may have.
    func renameIfFree(_ name: String, to newName: String) throws(VaultError) {
        try UserRights.perform { () throws(VaultError) in
            guard keychaind_rename_if_free(descriptor, name, newName) == 0 else {
                throw VaultError(errno: errno, doing: "rename \(name)")
            }
        }
    }

    /// Makes what was renamed, made or removed in the folder durable.
    func synchronize() throws(VaultError) {
        guard fsync(descriptor) == 0 else { throw VaultError(errno: errno, doing: "sync to the disk") }
    }
}
