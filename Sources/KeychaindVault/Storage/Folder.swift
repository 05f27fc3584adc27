import CKeychaindLinux
import Glibc
import KeychaindModel

/// A folder on the disk, whose changes are durable once ``synchronize()`` returns.
struct Folder: Sendable {
    let path: String

    init(_ path: String) {
        self.path = path
    }

    func folder(_ name: String) -> Folder {
        Folder(file(name))
    }

    func file(_ name: String) -> String {
        path + "/" + name
    }

    /// Creates the folder and its parents, private to their owner and durably.
    func create() throws(VaultError) {
        var made = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: true) {
            let parent = made.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : made
            made += (made.isEmpty && !path.hasPrefix("/") ? "" : "/") + part
            if mkdir(made, 0o700) == 0 {
                try Self.synchronizeFolder(parent)
            } else if errno != EEXIST {
                let failure = errno
                // An unwritable ancestor may exist all the same.
                if keychaind_can_access(made, F_OK) != 0 {
                    throw VaultError(errno: failure, doing: "create the folder")
                }
            }
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw VaultError(errno: errno, doing: "read the folder's status") }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw VaultError(.storageFailed, reason: "the path of the data folder is not a folder")
        }
        // An earlier umask may have let others in. A failure is not fatal on a read-only disk. The folder of a domain
        // belongs to root, which protects it.
        if status.st_uid == geteuid(), status.st_mode & 0o077 != 0 { chmod(path, 0o700) }
    }

    static func isWritable(_ path: String) -> Bool {
        keychaind_can_access(path, W_OK) == 0
    }

    var isWritable: Bool {
        keychaind_can_access(path, W_OK | X_OK) == 0
    }

    func names() throws(VaultError) -> [String] {
        guard let listing = opendir(path) else { throw VaultError(errno: errno, doing: "list the folder") }
        defer { closedir(listing) }
        return try Self.names(in: listing)
    }

    /// Reads the names from an open folder, sorted.
    static func names(in listing: OpaquePointer, atMost limit: Int = .max) throws(VaultError) -> [String] {
        var names: [String] = []
        errno = 0
        while names.count < limit, let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { text in String(cString: text) }
            }
            if name != ".", name != ".." { names.append(name) }
            errno = 0
        }
        // A file that is not listed would count as missing, and an empty one could take its place.
        if names.count < limit, errno != 0 { throw VaultError(errno: errno, doing: "list the folder") }
        return names.sorted()
    }

    /// Whether the name exists, even as a broken link; throws if the disk does not say.
    func exists(_ name: String) throws(VaultError) -> Bool {
        try Look.at(file(name)) != nil
    }

    /// Zero if there is no such file; throws if the disk does not say.
    func size(of name: String) throws(VaultError) -> Int {
        Int(try Look.at(file(name))?.st_size ?? 0)
    }

    /// Private to its owner; fails if the name exists.
    func makeEmptyFile(_ name: String) throws(VaultError) {
        let descriptor = Glibc.open(file(name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw VaultError(errno: errno, doing: "create \(name)") }
        close(descriptor)
    }

    func remove(_ name: String) throws(VaultError) {
        guard unlink(file(name)) == 0 || errno == ENOENT else {
            throw VaultError(errno: errno, doing: "remove \(name)")
        }
    }

    /// Empties a file; follows no link.
    func truncate(_ name: String) throws(VaultError) {
        let descriptor = Glibc.open(file(name), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw VaultError(errno: errno, doing: "empty \(name)") }
        defer { close(descriptor) }
        guard ftruncate(descriptor, 0) == 0 else { throw VaultError(errno: errno, doing: "empty \(name)") }
    }

    /// Removes a new file that cannot be used; throws its error, with a word if that fails, too.
    func withdraw(_ name: String, after error: VaultError) throws(VaultError) -> Never {
        do throws(VaultError) {
            try remove(name)
            try synchronize()
        } catch let second {
            throw VaultError(
                error.code,
                reason: "\(error.reason); it is unknown whether \(name) was made: \(second.reason)"
            )
        }
        throw error
    }

    func rename(_ name: String, to newName: String) throws(VaultError) {
        let identity = try FileIdentity(file(name), followingLinks: false)
        guard Glibc.rename(file(name), file(newName)) == 0 else {
            let failure = VaultError(errno: errno, doing: "rename \(name)")
            if try isDone(identity, newName, after: failure), try !exists(name) { return }
            throw failure
        }
    }

    /// Puts a new file in the place of another one, durably.
    ///
    /// After an error the other one is there, unless the reason says that this is unknown.
    func replace(_ name: String, by newFile: String) throws(VaultError) {
        try rename(newFile, to: name)
        do throws(VaultError) {
            try synchronize()
        } catch {
            throw VaultError(
                error.code,
                reason: "\(error.reason); it is unknown whether a power loss brings the earlier \(name) back"
            )
        }
    }

    /// Throws `busy` when the name is taken.
    func renameIfFree(_ name: String, to newName: String) throws(VaultError) {
        // A leftover of the old name is removed at the next start.
        if try addName(newName, to: name, doing: "rename \(name)") { unlink(file(name)) }
    }

    /// Gives a file a second name; without links, only that one.
    ///
    /// Throws `busy` when the name is taken.
    func keepAlso(_ name: String, as newName: String) throws(VaultError) {
        _ = try addName(newName, to: name, doing: "link \(name)")
    }

    /// Gives a file a second name, durably, which is returned: `NAME.unreadable-SECONDS`.
    func keepAside(_ name: String, at now: Timestamp) throws(VaultError) -> String {
        let aside = "\(name).unreadable-\(now.microsecondsSinceEpoch / 1_000_000)"
        try keepAlso(name, as: aside)
        try synchronize()
        return aside
    }

    /// Gives a file a second name; false if the file system has no links, so that the file was renamed instead.
    private func addName(_ newName: String, to name: String, doing what: String) throws(VaultError) -> Bool {
        let identity = try FileIdentity(file(name), followingLinks: false)
        if link(file(name), file(newName)) == 0 { return true }
        let number = errno
        let failure = VaultError(errno: number, doing: what)
        if try isDone(identity, newName, after: failure) { return true }
        switch number {
        case EEXIST: throw Self.isTaken(newName)
        case EPERM, ENOTSUP, ENOSYS:
            // Without links, there is no atomic way.
            try requireFree(newName)
            try rename(name, to: newName)
            return false
        default: throw failure
        }
    }

    /// Whether a change of a name that was reported as failed has happened all the same.
    ///
    /// Network file systems do so when the answer is lost. Taking the report for true would leave a file in use that
    /// its maker was told does not exist.
    private func isDone(
        _ identity: FileIdentity?,
        _ newName: String,
        after failure: VaultError
    ) throws(VaultError) -> Bool {
        guard let identity else { return false }
        do throws(VaultError) {
            return try FileIdentity(file(newName), followingLinks: false) == identity
        } catch {
            throw VaultError(failure.code, reason: "\(failure.reason); it is unknown whether \(newName) was made")
        }
    }

    func requireFree(_ name: String) throws(VaultError) {
        if try exists(name) { throw Self.isTaken(name) }
    }

    private static func isTaken(_ name: String) -> VaultError {
        VaultError(.busy, reason: "another \(name) has appeared in the folder and is kept")
    }

    func synchronize() throws(VaultError) {
        try Self.synchronizeFolder(path)
    }

    private static func synchronizeFolder(_ path: String) throws(VaultError) {
        try synchronize(path, flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }

    func synchronize(_ name: String) throws(VaultError) {
        try Self.synchronize(file(name), flags: O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    }

    private static func synchronize(_ path: String, flags: CInt) throws(VaultError) {
        let descriptor = Glibc.open(path, flags)
        guard descriptor >= 0 else { throw VaultError(errno: errno, doing: "open for syncing") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw VaultError(errno: errno, doing: "sync to the disk") }
    }
}

extension Folder {
    /// False if the disk does not say.
    func hasFree(bytes: UInt) -> Bool {
        var disk = statvfs()
        return statvfs(path, &disk) == 0 && disk.f_bavail >= bytes / max(1, disk.f_frsize)
    }
}
