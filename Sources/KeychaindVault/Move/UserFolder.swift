import CKeychaindLinux
import Glibc
import KeychaindRights

/// A folder that any program of the user may change at any time; held by a descriptor, used with the user's rights.
///
/// No link is followed.
struct UserFolder: ~Copyable {
    /// Reveals a replacement or change of a file.
    struct Identity: Equatable, Sendable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var seconds: Int64
        var nanoseconds: Int64
    }

    private static let maximumEntries = 4096

    private let descriptor: CInt

    private init(owning descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Opens a folder; nil when there is none.
    ///
    /// With `followingLinks` it may be a link or belong to somebody else.
    static func open(_ path: String, followingLinks: Bool = false) throws(VaultError) -> UserFolder? {
        try open(path, in: AT_FDCWD, followingLinks: followingLinks)
    }

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
                let number = errno
                if number == ENOENT { return nil }
                // Without following it, Linux reports a link as not a folder.
                if number == ENOTDIR, let status = try Look.at(path, in: base), status.st_mode & S_IFMT == S_IFLNK {
                    throw VaultError(
                        .storageFailed,
                        reason: "the folder \(path) is a symbolic link, which is not followed"
                    )
                }
                throw VaultError(errno: number, doing: "open the folder \(path)")
            }
            let folder = UserFolder(owning: descriptor)
            var status = stat()
            guard fstat(descriptor, &status) == 0, followingLinks || status.st_uid == geteuid() else {
                throw VaultError(.readOnly, reason: "the folder \(path) belongs to somebody else")
            }
            return folder
        }
    }

    func makeFolder(_ name: String) throws(VaultError) -> UserFolder {
        try UserRights.perform { () throws(VaultError) in
            guard mkdirat(descriptor, name, 0o700) == 0 || errno == EEXIST else {
                throw VaultError(errno: errno, doing: "create the folder \(name)")
            }
        }
        guard let folder = try folder(name) else {
            throw VaultError(.storageFailed, reason: "the folder \(name) has disappeared")
        }
        return folder
    }

    func closeToOthers() throws(VaultError) {
        guard fchmod(descriptor, 0o700) == 0 else { throw VaultError(errno: errno, doing: "protect the folder") }
    }

    /// The names in the folder, sorted; at most 4096.
    func names() throws(VaultError) -> [String] {
        let copy = try UserRights.perform { () throws(VaultError) in
            openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard copy >= 0 else { throw VaultError(errno: errno, doing: "list the folder") }
        guard let listing = fdopendir(copy) else {
            let error = VaultError(errno: errno, doing: "list the folder")
            close(copy)
            throw error
        }
        defer { closedir(listing) }
        return try Folder.names(in: listing, atMost: Self.maximumEntries)
    }

    /// Nil if the name does not exist, even as a broken link; throws if the disk does not say.
    func identity(of name: String) throws(VaultError) -> Identity? {
        try UserRights.perform { () throws(VaultError) in
            try Look.at(name, in: descriptor).map { status in Identity(status) }
        }
    }

    /// Opens a regular file owned by the user; throws `unreadable` for anything else and for a file that is too large.
    func read(_ name: String, maximumSize: Int64) throws(VaultError) -> OpenedFile {
        try UserRights.perform { () throws(VaultError) in
            // Opening a pipe would block.
            let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
            guard file >= 0 else {
                if errno == ELOOP { throw VaultError(.unreadable, reason: "it is a symbolic link") }
                throw VaultError(errno: errno, doing: "open it")
            }
            let opened = OpenedFile(owning: file)
            var status = stat()
            guard fstat(file, &status) == 0 else { throw VaultError(errno: errno, doing: "read its status") }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw VaultError(.unreadable, reason: "it is not a regular file")
            }
            guard status.st_uid == geteuid() else {
                throw VaultError(.unreadable, reason: "it belongs to somebody else")
            }
            guard status.st_size <= maximumSize else { throw VaultError(.unreadable, reason: "it is too long") }
            return opened
        }
    }

    func make(_ name: String) throws(VaultError) -> OpenedFile {
        try UserRights.perform { () throws(VaultError) in
            let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            let file = openat(descriptor, name, flags, 0o600)
            guard file >= 0 else { throw VaultError(errno: errno, doing: "create \(name)") }
            return OpenedFile(owning: file)
        }
    }

    /// Locks a vault in the folder; throws `inUse` at once when it is in use.
    func lock() throws(VaultError) -> FolderLock {
        try UserRights.perform { () throws(VaultError) in
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
            var file = openat(descriptor, FolderLock.name, flags | O_CREAT, 0o600)
            // A read-only folder can be locked itself.
            if file < 0, errno == EROFS || errno == EACCES {
                file = openat(descriptor, FolderLock.name, flags)
                if file < 0 { file = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
            }
            return try FolderLock(owning: file)
        }
    }

    func remove(_ name: String) throws(VaultError) {
        try UserRights.perform { () throws(VaultError) in
            guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
                throw VaultError(errno: errno, doing: "remove \(name)")
            }
        }
    }

    func rename(_ name: String, to newName: String) throws(VaultError) {
        try UserRights.perform { () throws(VaultError) in
            guard renameat(descriptor, name, descriptor, newName) == 0 else {
                throw VaultError(errno: errno, doing: "rename \(name)")
            }
        }
    }

    func renameIfFree(_ name: String, to newName: String) throws(VaultError) {
        try UserRights.perform { () throws(VaultError) in
            guard keychaind_rename_if_free(descriptor, name, newName) == 0 else {
                throw VaultError(errno: errno, doing: "rename \(name)")
            }
        }
    }

    func synchronize() throws(VaultError) {
        guard fsync(descriptor) == 0 else { throw VaultError(errno: errno, doing: "sync to the disk") }
    }
}

extension UserFolder.Identity {
    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = Int64(status.st_mtim.tv_sec)
        nanoseconds = Int64(status.st_mtim.tv_nsec)
    }
}
