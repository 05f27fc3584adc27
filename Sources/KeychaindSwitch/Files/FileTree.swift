import Glibc
package import KeychaindCommandLine
import KeychaindFiles
import KeychaindLanguage

/// The files of the system, or of an image below a folder.
///
/// Each change of a file is atomic and on disk when it returns.
package struct FileTree: Hashable, Sendable {
    /// Whose programs can put links and folders in the way.
    package enum Care: Hashable, Sendable {
        /// The user's own files: links are followed.
        case own
        /// As root: every folder on the way must be root's, and writable by root alone.
        case roots
    }

    /// Empty for the system itself.
    package let root: String
    package let care: Care

    package init(root: String = "", care: Care) {
        self.root = root
        self.care = care
    }

    // MARK: Reading

    /// What the path names, without following a link.
    package func state(of path: String) throws(CommandFailure) -> FileState {
        var status = stat()
        guard lstat(root + path, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw .file(path, .read) }
            return .absent
        }
        switch status.st_mode & S_IFMT {
        case S_IFLNK:
            var target = [UInt8](repeating: 0, count: 4096)
            let count = readlink(root + path, &target, target.count)
            guard count >= 0 else { throw .file(path, .read) }
            return .link(target: String(decoding: target[..<count], as: UTF8.self))
        case S_IFREG where status.st_uid == geteuid() && status.st_size <= FileContent.limit:
            guard let bytes = bytes(of: path) else { throw .file(path, .read) }
            let modified = FileContent.Modification(
                seconds: status.st_mtim.tv_sec,
                nanoseconds: status.st_mtim.tv_nsec
            )
            return .file(FileContent(bytes: bytes, mode: status.st_mode & 0o7777, modified: modified))
        default:
            return .other
        }
    }

    /// The bytes of a file, through links; nil if it cannot be read or is too large.
    package func bytes(of path: String) -> [UInt8]? {
        do throws(RegularFile.Failure) {
            let bytes = try RegularFile(root + path).read(most: FileContent.limit + 1)
            return bytes.count <= FileContent.limit ? bytes : nil
        } catch {
            if case .system(let number) = error { errno = number }
            return nil
        }
    }

    /// The text of a file, through links; nil if there is none.
    package func text(of path: String) -> String? {
        bytes(of: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether the path names something, through links.
    package func exists(_ path: String) -> Bool {
        access(root + path, F_OK) == 0
    }

    /// The names in a folder, sorted; empty if there is none.
    package func names(in folder: String) -> [String] {
        FolderListing.names(in: root + folder) ?? []
    }

    /// The folders that a file at this path needs and that are missing, the outermost first.
    package func missingFolders(for path: String) -> [String] {
        var missing: [String] = []
        var folder = path.parentFolder
        while folder != "/", !exists(folder) {
            missing.insert(folder, at: 0)
            folder = folder.parentFolder
        }
        return missing
    }
}

extension String {
    /// The path without its last component; `/` for a name at the top.
    package var parentFolder: String {
        guard let slash = lastIndex(of: "/"), slash != startIndex else { return "/" }
        return String(self[..<slash])
    }

    package var lastComponent: String {
        String(self[(lastIndex(of: "/").map(index(after:)) ?? startIndex)...])
    }
}

extension CommandFailure {
    /// The failure of a system call with a file, by `errno`.
    static func file(_ path: String, _ problem: FileProblem) -> CommandFailure {
        let reason = String(cString: strerror(errno))
        let path = path.visible
        return CommandFailure(.inputOutput, problem.text(path, reason))
    }
}

/// What could not be done with a file.
enum FileProblem {
    case changed, removed, made, synced, written, replaced, opened, read, temporaryFile

    fileprivate func text(_ path: String, _ reason: String) -> Text {
        switch self {
        case .changed: Text("\(path) cannot be changed: \(reason)")
        case .removed: Text("\(path) cannot be removed: \(reason)")
        case .made: Text("\(path) cannot be made: \(reason)")
        case .synced: Text("\(path) cannot be put on disk: \(reason)")
        case .written: Text("\(path) cannot be written: \(reason)")
        case .replaced: Text("\(path) cannot be replaced: \(reason)")
        case .opened: Text("\(path) cannot be opened: \(reason)")
        case .read: Text("\(path) cannot be read: \(reason)")
        case .temporaryFile: Text("\(path) has a temporary file beside it that cannot be removed: \(reason)")
        }
    }
}
