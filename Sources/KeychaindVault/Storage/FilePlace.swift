import CKeychaindLinux
import Glibc

/// The place of an open database in the file system: what its path and that of its journal led to.
///
/// A program that synchronises or restores files puts another file there. SQLite does not notice, and changes would go
/// into a file that nobody finds again.
final class FilePlace {
    private struct Identity: Equatable {
        let device: dev_t
        let number: ino_t

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = status.st_dev
            number = status.st_ino
        }
    }

    private enum State {
        /// The file is not open for writing.
        case any
        /// SQLite makes the journal with the first transaction.
        case withoutJournal(file: Identity)
        case whole(file: Identity, journal: Identity)
    }

    private let path: String
    private var journal: String { path + "-wal" }
    private var state = State.any

    init(_ path: String) {
        self.path = path
    }

    /// Remembers the file as it is now.
    func hold() {
        if let file = Identity(path) { state = .withoutJournal(file: file) }
    }

    /// Throws `displaced` unless the paths still lead to the same files.
    func check() throws(VaultError) {
        switch state {
        case .any: return
        case .withoutJournal(let file):
            try check(path, file)
            if let journal = Identity(journal) { state = .whole(file: file, journal: journal) }
        case .whole(let file, let held):
            try check(path, file)
            try check(journal, held)
        }
    }

    private func check(_ path: String, _ identity: Identity) throws(VaultError) {
        guard Identity(path) != identity else { return }
        let name = path.split(separator: "/").last ?? ""
        throw VaultError(.displaced, reason: "another program has replaced or removed \(name); nothing was stored")
    }
}
