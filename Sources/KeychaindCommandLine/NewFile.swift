import CKeychaindLinux
import Glibc
import KeychaindLanguage

/// A file that gets its name when it is complete and on the disk; before that its name ends in `.unfinished`.
///
/// An unfinished file is removed on deinit.
///
/// `@unchecked Sendable`: one task at a time writes and finishes it.
package final class NewFile: @unchecked Sendable {
    /// Open for reading and writing.
    package let descriptor: CInt
    package let path: String

    private let folder: CInt
    private let name: String
    private let unfinishedName: String
    private let replaces: Bool
    private var isFinished = false

    /// Creates the unfinished file, readable by its owner alone.
    ///
    /// Throws ``ExitStatus/refused`` if the path exists and `replaces` is false, or is not a regular file, and
    /// ``ExitStatus/notFound`` or ``ExitStatus/inputOutput`` if the folder cannot be used. Follows no link at the path.
    package init(_ path: String, replaces: Bool) throws(CommandFailure) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let name = String(parts.last ?? "")
        guard !name.isEmpty, name != ".", name != ".." else {
            throw CommandFailure(.refused, "“\(path.visible)” is not the name of a file")
        }
        let parent = parts.count == 1 ? "." : parts.dropLast().joined(separator: "/") + "/"
        let folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            let status: ExitStatus = errno == ENOENT ? .notFound : .inputOutput
            throw CommandFailure(status, "the folder of “\(path.visible)” cannot be opened: \(Self.reason)")
        }
        let unfinishedName = ".\(name.prefix(60)).\(getpid()).unfinished"
        do throws(CommandFailure) {
            try Self.checkTarget(name, in: folder, path: path, replaces: replaces)
            unlinkat(folder, unfinishedName, 0)
            let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            descriptor = openat(folder, unfinishedName, flags, 0o600)
            guard descriptor >= 0 else {
                throw CommandFailure(.inputOutput, "“\(path.visible)” cannot be written: \(Self.reason)")
            }
        } catch {
            close(folder)
            throw error
        }
        self.unfinishedName = unfinishedName
        self.path = path
        self.folder = folder
        self.name = name
        self.replaces = replaces
    }

    deinit {
        close(descriptor)
        if !isFinished { unlinkat(folder, unfinishedName, 0) }
        close(folder)
    }

    /// Writes the file to the disk and gives it its name.
    ///
    /// Throws ``ExitStatus/refused`` if somebody else has taken the name, and ``ExitStatus/inputOutput``.
    package func finish() throws(CommandFailure) {
        guard fsync(descriptor) == 0 else { throw failure }
        try Self.checkTarget(name, in: folder, path: path, replaces: replaces)
        if replaces {
            guard renameat(folder, unfinishedName, folder, name) == 0 else { throw failure }
        } else if keychaind_rename_if_free(folder, unfinishedName, name) != 0 {
            if errno == EEXIST { throw Self.exists(path) }
            // Some file systems only have the plain rename; the name was free a moment ago.
            guard errno == EINVAL, renameat(folder, unfinishedName, folder, name) == 0 else { throw failure }
        }
        isFinished = true
        // Some file systems cannot sync a folder; the file itself is on the disk.
        guard fsync(folder) == 0 || errno == EINVAL || errno == ENOTSUP else { throw failure }
    }

    private static func checkTarget(
        _ name: String,
        in folder: CInt,
        path: String,
        replaces: Bool
    ) throws(CommandFailure) {
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        guard replaces else { throw exists(path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure(.refused, "“\(path.visible)” is not replaced, since it is not a regular file")
        }
    }

    private static func exists(_ path: String) -> CommandFailure {
        CommandFailure(.refused, "“\(path.visible)” exists; choose another name, or use --force to replace it")
    }

    private var failure: CommandFailure {
        CommandFailure(.inputOutput, "“\(path.visible)” cannot be written: \(Self.reason)")
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
