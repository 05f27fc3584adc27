import FoundationEssentials
import Glibc
import KeychaindCommandLine
import KeychaindLanguage

/// A temporary folder of mode 0700, in memory if it fits, which is removed at the end of the import.
///
/// A killed process leaves its folder; the next import removes it.
final class PrivateFolder: Sendable {
    let path: String
    /// Holds a lock, by which others see that the folder is in use.
    private let lock: Int32

    private static let prefix = "keychainctl-import."

    /// - Parameter bytes: the expected size of the content.
    init(roomFor bytes: Int) throws(CommandFailure) {
        let bases = PrivateFolder.bases
        for base in bases { PrivateFolder.removeLeftovers(in: base) }
        let base = bases.first { PrivateFolder.hasRoom($0, bytes + PrivateFolder.reserve) } ?? "/tmp"
        var template = Array("\(base)/\(PrivateFolder.prefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure(.inputOutput, "no folder can be made in \(base.visible): \(PrivateFolder.error)")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        lock = open("\(path)/lock", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let reason = PrivateFolder.error
            rmdir(path)
            throw CommandFailure(.inputOutput, "\(path.visible) cannot be used: \(reason)")
        }
    }

    deinit {
        remove()
        close(lock)
    }

    /// Creates a folder below it, with those above.
    func makeFolder(_ name: String) throws(CommandFailure) -> String {
        let folder = "\(path)/\(name)"
        do {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw CommandFailure(.inputOutput, "\(folder.visible) cannot be made: \(PrivateFolder.error)")
        }
        return folder
    }

    /// Removes it with everything in it.
    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Room for the sockets and files of the programs that run in it.
    private static let reserve = 16 << 20

    private static var error: String { String(cString: strerror(errno)) }

    /// Where temporary folders can be: in memory first.
    private static var bases: [String] {
        let candidates = [
            DisplayEnvironment.variable("XDG_RUNTIME_DIR"), "/dev/shm", DisplayEnvironment.variable("TMPDIR"), "/tmp",
        ]
        // Longer paths leave no room for the name of a socket, which has at most 107 bytes.
        return candidates.compactMap(\.self).filter { $0.hasPrefix("/") && $0.utf8.count < 60 && isFolder($0) }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && access(path, W_OK) == 0
    }

    private static func hasRoom(_ base: String, _ bytes: Int) -> Bool {
        var status = statvfs()
        guard statvfs(base, &status) == 0 else { return false }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize) > UInt64(bytes)
    }

    private static func removeLeftovers(in base: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? [] where name.hasPrefix(prefix) {
            let path = "\(base)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
                continue
            }
            let lock = open("\(path)/lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
            guard lock >= 0 else { continue }
            defer { close(lock) }
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { try? FileManager.default.removeItem(atPath: path) }
        }
    }
}
