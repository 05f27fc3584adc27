import CKeychaindLinux
import Glibc

/// The place of an open database in the file system: what its path and that of its journal led to, as it was left.
///
/// A program that synchronises or restores files puts another file there, or writes into this one. SQLite does not
/// notice: changes would go into a file that nobody finds again, or mix with the other program's.
final class FilePlace {
    private enum State {
        /// The file is not open for writing.
        case any
        /// SQLite makes the journal with the first transaction.
        case held(file: FileStamp, journal: FileStamp?)
    }

    private let path: String
    private let journal: String
    private var state = State.any

    init(_ path: String) {
        self.path = path
        journal = path + "-wal"
    }

    /// Remembers the files as this process has left them, after a change of either.
    ///
    /// Files that have come in their place stay unknown.
    func hold() {
        guard let file = FileStamp(path) else { return }
        let journal = FileStamp(journal)
        guard case .held(let heldFile, let heldJournal) = state else {
            state = .held(file: file, journal: journal)
            return
        }
        state = .held(
            file: file.identity == heldFile.identity ? file : heldFile,
            journal: heldJournal == nil || journal?.identity == heldJournal?.identity ? journal : heldJournal
        )
    }

    /// Remembers the journal after a commit, which leaves the file as it was.
    func holdJournal() {
        guard case .held(let file, _) = state else { return }
        hold()
        if case .held(_, let journal) = state { state = .held(file: file, journal: journal) }
    }

    /// Whether another program has written into one of the files since it was held.
    var isTouched: Bool {
        guard case .held(let file, let journal) = state else { return false }
        return Self.isTouched(file, at: path) || journal.map { Self.isTouched($0, at: self.journal) } ?? false
    }

    private static func isTouched(_ held: FileStamp, at path: String) -> Bool {
        guard let stamp = FileStamp(path), stamp.identity == held.identity else { return false }
        return stamp != held
    }

    var journalIsWritable: Bool { Folder.isWritable(journal) }

    /// Whether the path still leads to the file that was held.
    var hasFile: Bool {
        guard case .held(let file, _) = state else { return false }
        return FileIdentity(path) == file.identity
    }

    /// Throws `displaced` unless the paths still lead to the same files.
    func check() throws(VaultError) {
        guard case .held(let file, let held) = state else { return }
        try check(path, file.identity)
        if let held { try check(journal, held.identity) }
    }

    private func check(_ path: String, _ identity: FileIdentity) throws(VaultError) {
        if let present = FileIdentity(path) {
            if present == identity { return }
        } else if errno != ENOENT, errno != ENOTDIR {
            throw VaultError(errno: errno, doing: "look for a file")
        }
        let name = path.split(separator: "/").last ?? ""
        throw VaultError(.displaced, reason: "another program has replaced or removed \(name); nothing was stored")
    }
}
