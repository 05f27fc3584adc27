import CLinux
import Glibc

/// The folder of a vault, and what is done with files in it as wholes.
struct Folder: Sendable {
    /// The path, without a slash at the end.
    let path: String

    init(_ path: String) {
        self.path = path
    }

    /// A folder in this one.
    func folder(_ name: String) -> Folder {
        Folder(file(name))
    }

    /// The path of a file in the folder.
    func file(_ name: String) -> String {
        path + "/" + name
    }

    /// Makes the folder, and those above it, for their owner alone; those that are new are on the disk when this returns.
    func create() throws(VaultError) {
        var made = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: true) {
            let parent = made.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : made
            made += (made.isEmpty && !path.hasPrefix("/") ? "" : "/") + part
            if mkdir(made, 0o700) == 0 {
                try Self.synchronizeFolder(parent)
            } else if errno != EEXIST {
                let failure = errno
                // An ancestor may be one that only the system can write, and be there all the same.
                if keychaind_can_access(made, F_OK) != 0 { throw VaultError(errno: failure, doing: "make the folder") }
            }
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw VaultError(errno: errno, doing: "look at the folder") }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw VaultError(.storageFailed, reason: "the data folder is not a folder")
        }
        // Others may have been let in by an earlier program's mask; failing to shut them out is not fatal on a read-only disk.
        // The folder of a domain is root's, and shuts them out by itself.
        if status.st_uid == geteuid(), status.st_mode & 0o077 != 0 { chmod(path, 0o700) }
    }

    /// Whether a file can be written.
    static func isWritable(_ path: String) -> Bool {
        keychaind_can_access(path, W_OK) == 0
    }

    /// Whether new files can be made in the folder.
    var isWritable: Bool {
        keychaind_can_access(path, W_OK | X_OK) == 0
    }

    /// The names of what is in the folder, rising.
    func names() throws(VaultError) -> [String] {
        guard let listing = opendir(path) else { throw VaultError(errno: errno, doing: "list the folder") }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { text in String(cString: text) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Whether there is something of that name, a broken link included.
    func contains(_ name: String) -> Bool {
        var status = stat()
        return lstat(file(name), &status) == 0
    }

    /// The size of a file in bytes; zero when there is none.
    func size(of name: String) -> Int {
        var status = stat()
        return lstat(file(name), &status) == 0 ? Int(status.st_size) : 0
    }

    /// Makes an empty file for its owner alone; there must be none of that name.
    func makeEmptyFile(_ name: String) throws(VaultError) {
        let descriptor = Glibc.open(file(name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw VaultError(errno: errno, doing: "make \(name)") }
        close(descriptor)
    }

    /// Removes a file; it is no error when there is none.
    func remove(_ name: String) throws(VaultError) {
        guard unlink(file(name)) == 0 || errno == ENOENT else {
            throw VaultError(errno: errno, doing: "remove \(name)")
        }
    }

    /// Gives a file another name, in place of a file that may have it.
    func rename(_ name: String, to newName: String) throws(VaultError) {
        guard Glibc.rename(file(name), file(newName)) == 0 else {
            throw VaultError(errno: errno, doing: "rename \(name)")
        }
    }

    /// Gives an unfinished file its name, which no other may have; throws `busy` when one does.
    func renameIfFree(_ name: String, to newName: String) throws(VaultError) {
        if link(file(name), file(newName)) == 0 {
            // The old name is that of an unfinished file, which the next start removes.
            unlink(file(name))
            return
        }
        switch errno {
        case EEXIST:
            throw Self.isTaken(newName)
        case EPERM, ENOTSUP, ENOSYS:
            // There are file systems without links; there nothing looks and renames at once.
            try requireFree(newName)
            try rename(name, to: newName)
        default:
            throw VaultError(errno: errno, doing: "rename \(name)")
        }
    }

    /// Throws `busy` when there is a file of that name.
    func requireFree(_ name: String) throws(VaultError) {
        if contains(name) { throw Self.isTaken(name) }
    }

    private static func isTaken(_ name: String) -> VaultError {
        VaultError(.busy, reason: "\(name) has come into the folder meanwhile, and is kept")
    }

    /// Makes what was renamed, made or removed in the folder durable.
    func synchronize() throws(VaultError) {
        try Self.synchronizeFolder(path)
    }

    private static func synchronizeFolder(_ path: String) throws(VaultError) {
        try synchronize(path, flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }

    /// Makes what is in a file durable.
    func synchronize(_ name: String) throws(VaultError) {
        try Self.synchronize(file(name), flags: O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    }

    private static func synchronize(_ path: String, flags: CInt) throws(VaultError) {
        let descriptor = Glibc.open(path, flags)
        guard descriptor >= 0 else { throw VaultError(errno: errno, doing: "open for syncing") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw VaultError(errno: errno, doing: "sync to the disk") }
    }
}
