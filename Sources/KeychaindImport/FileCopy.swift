import FoundationEssentials
import Glibc
import KeychaindCommandLine
import KeychaindLanguage

/// The regular files of a folder, opened for a copy.
///
/// The folder and its files may be links of the user to files of the user, as people keep them who synchronise their
/// settings. A file of another user is refused: what a program reads from it is not the user's.
struct FileCopy {
    let folder: String
    /// Names of the files.
    private let names: [String]
    /// In bytes.
    let size: Int

    /// The most bytes that are copied.
    private static let limit = 1 << 30

    /// Throws ``ExitStatus/notFound`` if there is no such folder.
    init(of folder: String) throws(CommandFailure) {
        self.folder = folder
        var status = stat()
        guard stat(folder, &status) == 0 else {
            if errno == ENOENT { throw CommandFailure(.notFound, "there is no folder \(folder.visible)") }
            throw FileCopy.failure(folder)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw CommandFailure(.badData, "\(folder.visible) is not a folder")
        }
        try FileCopy.checkOwner(status, folder)
        guard let entries = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw FileCopy.failure(folder)
        }
        var names: [String] = []
        var size = 0
        for name in entries.sorted() {
            let path = "\(folder)/\(name)"
            guard stat(path, &status) == 0 else {
                // A link that leads nowhere is no file.
                if [ENOENT, ENOTDIR, ELOOP].contains(errno) { continue }
                throw FileCopy.failure(path)
            }
            guard status.st_mode & S_IFMT == S_IFREG else { continue }
            try FileCopy.checkOwner(status, path)
            size += Int(status.st_size)
            guard size <= FileCopy.limit else {
                throw CommandFailure(.badData, "\(folder.visible) holds more than \(FileCopy.limit >> 20) MiB")
            }
            names.append(name)
        }
        self.names = names
        self.size = size
    }

    var isEmpty: Bool { names.isEmpty }

    /// Writes the files into another folder, with mode 0600.
    func write(to target: String) throws(CommandFailure) {
        for name in names { try FileCopy.copy("\(folder)/\(name)", to: "\(target)/\(name)") }
    }

    static func copy(_ path: String, to target: String) throws(CommandFailure) {
        // Without waiting, should it have become a pipe meanwhile.
        let source = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard source >= 0 else { throw failure(path) }
        defer { close(source) }
        var status = stat()
        guard fstat(source, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure(.badData, "\(path.visible) is not a file")
        }
        try checkOwner(status, path)
        let copy = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard copy >= 0 else { throw failure(target) }
        defer { close(copy) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var total = 0
        while true {
            let count = read(source, &buffer, buffer.count)
            if count == 0 { return }
            total += max(count, 0)
            guard count > 0, total <= limit, Glibc.write(copy, buffer, count) == count else { throw failure(path) }
        }
    }

    private static func checkOwner(_ status: stat, _ path: String) throws(CommandFailure) {
        guard status.st_uid == geteuid() else {
            throw CommandFailure(
                .refused,
                """
                \(path.visible) belongs to another user (\(status.st_uid)), so what is in it may not be yours; \
                nothing was imported. Take it over with chown, or move it away
                """
            )
        }
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure(.inputOutput, "\(path.visible) cannot be copied: \(String(cString: strerror(errno)))")
    }
}
