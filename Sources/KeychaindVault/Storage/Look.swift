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

/// The identity of an existing file, whatever its name.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t

    /// Nil if there is no such file.
    init?(_ path: String, followingLinks: Bool = true) throws(VaultError) {
        guard let status = try Look.at(path, followingLinks: followingLinks) else { return nil }
        device = status.st_dev
        number = status.st_ino
    }
}

extension VaultError {
    /// Whether the cause is the disk, the memory or another program at this moment, and not the file.
    ///
    /// A file that could not be read for such a cause is not damaged: it is left where it is, and read again later.
    var mayPass: Bool {
        switch code {
        case .storageFailed, .storageFull, .limitExceeded, .busy: true
        default: false
        }
    }

    /// Whether the file is tried again at intervals: the cause may pass, or somebody may give access back.
    var isTriedAgain: Bool { mayPass || code == .readOnly }
}

/// Reads a file again after a failure that may pass, or damage; blocks for a twentieth of a second or so.
///
/// A disk that once returns less of a page than there is makes a sound file look damaged; that needs no pause.
///
/// - Parameters:
///   - isSound: whether the contents need no other look.
///   - read: told whether it was called before; then it must not use what a connection has cached.
func retryingRead<Contents>(
    until isSound: (Contents) -> Bool = { _ in true },
    _ read: (_ isAgain: Bool) throws(VaultError) -> Contents
) throws(VaultError) -> Contents {
    var isAgain = false
    for milliseconds: UInt32 in [5, 50] {
        do throws(VaultError) {
            let contents = try read(isAgain)
            if isSound(contents) { return contents }
            usleep(milliseconds * 1000)
        } catch {
            guard error.isTriedAgain || error.code == .unreadable else { throw error }
            if error.isTriedAgain { usleep(milliseconds * 1000) }
        }
        isAgain = true
    }
    return try read(isAgain)
}
