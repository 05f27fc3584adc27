import Glibc
package import KeychaindCommandLine
import KeychaindFiles
import KeychaindLanguage

extension FileTree {
    /// The name beside a file under which its next state is written.
    private static func temporaryName(_ name: String) -> String { ".\(name).keychaind-switch" }

    /// Makes the path name this, creates missing folders, and waits until it is on disk.
    package func put(_ state: FileState, at path: String) throws(CommandFailure) {
        let folder = try openFolder(path.parentFolder, creating: state != .absent)
        guard let folder else { return }
        defer { close(folder) }
        let name = path.lastComponent
        let temporary = FileTree.temporaryName(name)
        guard unlinkat(folder, temporary, 0) == 0 || errno == ENOENT else { throw .file(path, .changed) }
        switch state {
        case .absent:
            guard unlinkat(folder, name, 0) == 0 || errno == ENOENT else { throw .file(path, .removed) }
        case .link(let target):
            guard symlinkat(target, folder, temporary) == 0 else { throw .file(path, .made) }
            try rename(temporary, to: name, in: folder, path)
        case .file(let content):
            try write(content, to: temporary, in: folder, path)
            try rename(temporary, to: name, in: folder, path)
        case .other:
            throw CommandFailure(.refused, "\(path.visible) is not a file of this user, and stays as it is")
        }
        guard fsync(folder) == 0 || errno == EINVAL else { throw .file(path, .synced) }
    }

    private func write(
        _ content: FileContent,
        to name: String,
        in folder: Int32,
        _ path: String
    ) throws(CommandFailure) {
        let file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .file(path, .written) }
        var isWritten = false
        defer {
            close(file)
            if !isWritten { unlinkat(folder, name, 0) }
        }
        guard content.bytes.withUnsafeBytes({ FileBytes.write($0, to: file) }) else { throw .file(path, .written) }
        guard fchmod(file, content.mode) == 0 else { throw .file(path, .written) }
        if let modified = content.modified {
            let time = timespec(tv_sec: modified.seconds, tv_nsec: modified.nanoseconds)
            guard futimens(file, [time, time]) == 0 else { throw .file(path, .written) }
        }
        guard fsync(file) == 0 else { throw .file(path, .synced) }
        isWritten = true
    }

    private func rename(
        _ temporary: String,
        to name: String,
        in folder: Int32,
        _ path: String
    ) throws(CommandFailure) {
        guard renameat(folder, temporary, folder, name) == 0 else {
            let failure = CommandFailure.file(path, .replaced)
            unlinkat(folder, temporary, 0)
            throw failure
        }
    }

    /// Removes what an interrupted ``put(_:at:)`` has left beside the path.
    package func removeTemporary(of path: String) throws(CommandFailure) {
        guard let folder = try openFolder(path.parentFolder, creating: false) else { return }
        defer { close(folder) }
        guard unlinkat(folder, FileTree.temporaryName(path.lastComponent), 0) == 0 || errno == ENOENT else {
            throw .file(path, .temporaryFile)
        }
    }

    /// Removes a folder if it is empty.
    package func removeFolder(_ path: String) throws(CommandFailure) {
        guard let folder = try openFolder(path.parentFolder, creating: false) else { return }
        defer { close(folder) }
        guard unlinkat(folder, path.lastComponent, AT_REMOVEDIR) == 0 else {
            guard [ENOENT, ENOTEMPTY, EEXIST, ENOTDIR].contains(errno) else { throw .file(path, .removed) }
            return
        }
    }

    /// Opens a folder; nil if it is missing and not to be created.
    package func openFolder(_ path: String, creating: Bool) throws(CommandFailure) -> Int32? {
        var folder = open(root.isEmpty ? "/" : root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if care == .own {
            if folder >= 0 { close(folder) }
            for missing in creating ? missingFolders(for: path + "/") : [] {
                guard mkdir(root + missing, 0o700) == 0 || errno == EEXIST else {
                    throw .file(missing, .made)
                }
            }
            folder = open(root + path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard folder >= 0 else {
                if errno == ENOENT, !creating { return nil }
                throw .file(path, .opened)
            }
            return folder
        }
        guard folder >= 0 else { throw .file(root, .opened) }
        for component in path.split(separator: "/").map(String.init) {
            var next = openat(folder, component, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if next < 0, errno == ENOENT, creating, mkdirat(folder, component, 0o755) == 0 {
                // Whatever the umask.
                fchmodat(folder, component, 0o755, 0)
                next = openat(folder, component, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            }
            let problem = errno
            close(folder)
            errno = problem
            guard next >= 0 else {
                if errno == ENOENT, !creating { return nil }
                throw .file(path, .opened)
            }
            folder = next
            var status = stat()
            guard fstat(folder, &status) == 0, status.st_uid == 0, status.st_mode & 0o022 == 0 else {
                close(folder)
                throw CommandFailure(.refused, "\(path.visible) is in a folder that others than root can change")
            }
        }
        return folder
    }
}
