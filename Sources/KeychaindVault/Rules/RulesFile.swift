import CKeychaindLinux
import Glibc

/// The file with the user's rules, sealed with a key of `login`: `KCHR`, 1 (4), the identifier of `login` (16), and the
/// sealed rules.
///
/// Apart from `state`, so that damage to the one leaves the other.
enum RulesFile {
    static let name = "rules"

    /// What the file holds.
    enum Content: Sendable {
        /// There is no file.
        case none
        case sealed([UInt8], collection: [UInt8])
        case unreadable(reason: String)
    }

    private static let magic = Array("KCHR".utf8)
    private static let version: UInt32 = 1
    private static let headerSize = 24
    private static let unfinishedName = name + "-new"
    /// In bytes; more than the rules can have.
    private static let maximumSize = 64 << 20

    static func load(from folder: Folder) -> Content {
        let file = open(folder.file(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            let failure = errno
            return failure == ENOENT
                ? .none : .unreadable(reason: VaultError(errno: failure, doing: "open the rules").reason)
        }
        let opened = OpenedFile(owning: file)
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= maximumSize else {
            return .unreadable(reason: "the rules are not in a regular file, or in one that is too long")
        }
        guard let bytes = try? opened.bytes(maximumSize: Int64(maximumSize)), bytes.count == status.st_size else {
            return .unreadable(reason: "the rules cannot be read from the disk")
        }
        guard bytes.count > headerSize, bytes.starts(with: magic) else {
            return .unreadable(reason: "the file of the rules is damaged")
        }
        let found = bytes[4..<8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard found == version else { return .unreadable(reason: "the rules are in a format of another version") }
        return .sealed(Array(bytes[headerSize...]), collection: Array(bytes[8..<headerSize]))
    }

    /// Writes the file; the old one stays until the new one is on the disk.
    static func write(_ sealed: [UInt8], collection: [UInt8], to folder: Folder) throws(VaultError) {
        var bytes = magic
        bytes.append(bigEndian: version)
        bytes += collection
        bytes += sealed
        try folder.remove(unfinishedName)
        try folder.makeEmptyFile(unfinishedName)
        do throws(VaultError) {
            try OpenedFile(folder.file(unfinishedName), flags: O_WRONLY).write(bytes)
            try folder.synchronize(unfinishedName)
        } catch {
            try? folder.remove(unfinishedName)
            throw error
        }
        try folder.rename(unfinishedName, to: name)
        try folder.synchronize()
    }

    /// Keeps a file that cannot be read under another name.
    static func setAside(in folder: Folder) throws(VaultError) {
        guard try folder.exists(name) else { return }
        for number in 1... {
            let kept = name + ".unreadable" + (number == 1 ? "" : "-\(number)")
            guard try !folder.exists(kept) else { continue }
            try folder.rename(name, to: kept)
            return try folder.synchronize()
        }
    }
}
