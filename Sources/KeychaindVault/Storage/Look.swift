import CKeychaindLinux
import Glibc

/// Reads the status of files.
///
/// A failure of the disk says nothing about a file: taken for its absence, it would let another file be made in its
/// place. So a failing `fstatat` is retried, and then throws.
enum Look {
    /// Nil if there is no such file.
    static func at(_ path: String, followingLinks: Bool = false) throws(VaultError) -> stat? {
        try at(path, in: AT_FDCWD, flags: followingLinks ? 0 : AT_SYMLINK_NOFOLLOW)
    }

    /// The same for a name in an open folder; follows no link.
    static func at(_ name: String, in folder: CInt) throws(VaultError) -> stat? {
        try at(name, in: folder, flags: AT_SYMLINK_NOFOLLOW)
    }

    /// The same without repetition: that pauses, and must not hold up an event loop.
    static func once(at path: String) throws(VaultError) -> stat? {
        try once(at: path, in: AT_FDCWD, flags: AT_SYMLINK_NOFOLLOW)
    }

    private static func at(_ path: String, in folder: CInt, flags: CInt) throws(VaultError) -> stat? {
        try retryingRead { (_) throws(VaultError) in try once(at: path, in: folder, flags: flags) }
    }

    private static func once(at path: String, in folder: CInt, flags: CInt) throws(VaultError) -> stat? {
        var status = stat()
        if fstatat(folder, path, &status, flags) == 0 { return status }
        guard errno == ENOENT || errno == ENOTDIR else {
            throw VaultError(errno: errno, doing: "look for \(path.split(separator: "/").last ?? "/")")
        }
        return nil
    }
}
