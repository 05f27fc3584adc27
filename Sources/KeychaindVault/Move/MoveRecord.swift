import Glibc

/// The file `moved` in the vault's folder; once it exists, nothing more is copied from the home folder.
enum MoveRecord {
    struct OldFile: Equatable, Sendable {
        /// The name in the old folder.
        var name: String
        var identity: UserFolder.Identity
    }

    case removing([OldFile])
    case done

    static let name = "moved"

    private static let firstLine = "keychaind moved 1"
    private static let maximumSize: Int64 = 4 << 20

    /// Reads the record; an unreadable one counts as done, so that nothing is moved twice.
    static func load(from folder: Folder) throws(VaultError) -> MoveRecord? {
        guard try folder.exists(name) else { return nil }
        let lines = try FileText.read(folder.file(name), maximumSize: maximumSize).split(separator: "\n")
        guard lines.first == firstLine[...], lines.dropFirst().first == "removing" else { return .done }
        return .removing(lines.dropFirst(2).compactMap(OldFile.init))
    }

    func save(in folder: Folder) throws(VaultError) {
        var text = Self.firstLine + "\n"
        switch self {
        case .done: text += "done\n"
        case .removing(let files):
            text += "removing\n"
            for file in files { text += file.line + "\n" }
        }
        try FileText.write(text, to: Self.name, in: folder)
    }
}

extension MoveRecord.OldFile {
    fileprivate var line: String {
        let numbers = [identity.seconds, identity.nanoseconds, identity.size].map { String($0) }
        return ([String(identity.device), String(identity.inode)] + numbers + [name]).joined(separator: " ")
    }

    fileprivate init?(_ line: Substring) {
        let fields = line.split(separator: " ", maxSplits: 5)
        guard fields.count == 6, let device = UInt64(fields[0]), let inode = UInt64(fields[1]),
            let seconds = Int64(fields[2]), let nanoseconds = Int64(fields[3]), let size = Int64(fields[4])
        else { return nil }
        name = String(fields[5])
        identity = UserFolder.Identity(
            device: device,
            inode: inode,
            size: size,
            seconds: seconds,
            nanoseconds: nanoseconds
        )
    }
}

enum FileText {
    static func read(_ path: String, maximumSize: Int64) throws(VaultError) -> String {
        let file = try OpenedFile(path, flags: O_RDONLY)
        return String(decoding: try file.bytes(maximumSize: maximumSize), as: UTF8.self)
    }

    static func write(_ text: String, to name: String, in folder: Folder) throws(VaultError) {
        let unfinished = name + "-new"
        try folder.remove(unfinished)
        try OpenedFile(folder.file(unfinished), flags: O_WRONLY | O_CREAT | O_EXCL).write(text)
        try folder.rename(unfinished, to: name)
        try folder.synchronize()
    }
}
