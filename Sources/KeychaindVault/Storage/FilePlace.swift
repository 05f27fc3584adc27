import CKeychaindLinux
import Glibc

/// The place of an open database in the file system: what its path and that of its journal led to.
///
/// A program that synchronises or restores files puts another file there. SQLite does not notice, and changes would go
/// into a file that nobody finds again.
final class FilePlace {
    private enum State {
        /// The file is not open for writing.
        case any
        /// SQLite makes the journal with the first transaction.
        case withoutJournal(file: FileIdentity)
        case whole(file: FileIdentity, journal: FileIdentity)
    }

    private let path: String
    private var journal: String { path + "-wal" }
    private var state = State.any

    init(_ path: String) {
        self.path = path
    }

    /// Remembers the file as it is now.
    func hold() {
        if let file = FileIdentity(path) { state = .withoutJournal(file: file) }
    }

    /// Throws `displaced` unless the paths still lead to the same files.
    func check() throws(VaultError) {
        switch state {
        case .any: return
        case .withoutJournal(let file):
            try check(path, file)
            if let journal = FileIdentity(journal) { state = .whole(file: file, journal: journal) }
        case .whole(let file, let held):
            try check(path, file)
            try check(journal, held)
        }
    }

    private func check(_ path: String, _ identity: FileIdentity) throws(VaultError) {
        guard FileIdentity(path) != identity else { return }
        let name = path.split(separator: "/").last ?? ""
        throw VaultError(.displaced, reason: "another program has replaced or removed \(name); nothing was stored")
    }
}
