/// The place of an open database in the file system: what its path and that of its journal led to, as it was left.
///
/// A program that synchronises or restores files puts another file there, or writes into this one. SQLite does not
/// notice: changes would go into a file that nobody finds again, or mix with the other program's.
final class FilePlace {
    /// Whether another program has written into the files since they were held; a replacement does not count.
    enum Writing {
        case none
        case found
        /// The disk has not said how this process left them.
        case unknown
    }

    private enum State {
        /// The file is not open for writing.
        case any
        /// SQLite makes the journal with the first transaction.
        case held(file: FileStamp, journal: FileStamp?)
        /// The disk has not said how the last change of this process has left them.
        case unseen(file: FileIdentity, journal: FileIdentity?)
    }

    private let path: String
    private let journal: String
    private let isAlone: Bool
    private var state = State.any

    /// - Parameter isAlone: whether no other connection of SQLite may write into the file.
    init(_ path: String, isAlone: Bool) {
        self.path = path
        self.isAlone = isAlone
        journal = path + "-wal"
    }

    /// Remembers the files before the first change.
    func begin() throws(VaultError) {
        guard let file = try FileStamp(path) else { return }
        state = .held(file: file, journal: try FileStamp(journal))
    }

    /// Remembers the files as this process has left them, after a change of either.
    ///
    /// Files that have come in their place stay unknown.
    func hold() {
        hold { () throws(VaultError) in try FileStamp(path) }
    }

    /// Remembers the journal after a commit, which leaves the file as it was.
    func holdJournal() {
        hold { () throws(VaultError) in nil }
    }

    private func hold(_ changedFile: () throws(VaultError) -> FileStamp?) {
        guard case .held(let heldFile, let heldJournal) = state else { return }
        do throws(VaultError) {
            let file = try changedFile()
            let journal = try FileStamp(journal)
            state = .held(
                file: file.flatMap { file in file.identity == heldFile.identity ? file : nil } ?? heldFile,
                journal: heldJournal == nil || journal?.identity == heldJournal?.identity ? journal : heldJournal
            )
        } catch {
            state = .unseen(file: heldFile.identity, journal: heldJournal?.identity)
        }
    }

    /// Whether another program has written into the files since they were held, or that is unknown.
    ///
    /// Throws disk errors.
    func isTouched() throws(VaultError) -> Bool {
        try foreignWriting() != .none
    }

    /// Throws `displaced` if another program has written into the files, or may have, and disk errors.
    func requireUntouched() throws(VaultError) {
        switch try foreignWriting() {
        case .none: return
        case .found: throw Self.touched
        case .unknown:
            throw VaultError(.displaced, reason: "another program may have written into the file; nothing was stored")
        }
    }

    static let touched = VaultError(
        .displaced,
        reason: "another program has written into the file; nothing was stored"
    )

    /// Whether another program has written into one of the files; throws disk errors.
    func foreignWriting() throws(VaultError) -> Writing {
        guard isAlone else { return .none }
        switch state {
        case .any: return .none
        case .held(let file, let journal):
            if try Self.hasChanged(file, at: path) { return .found }
            if let journal, try Self.hasChanged(journal, at: self.journal) { return .found }
            return .none
        case .unseen: return .unknown
        }
    }

    private static func hasChanged(_ held: FileStamp, at path: String) throws(VaultError) -> Bool {
        guard let stamp = try FileStamp(path), stamp.identity == held.identity else { return false }
        return stamp != held
    }

    var journalIsWritable: Bool { Folder.isWritable(journal) }

    /// Whether the path still leads to the file that was held.
    var hasFile: Bool {
        guard let held = identities else { return false }
        return (try? FileIdentity(path)) == held.file
    }

    /// Throws `displaced` unless the paths still lead to the same files, and disk errors if that is unknown.
    func check() throws(VaultError) {
        guard let held = identities else { return }
        try check(path, held.file)
        if let journal = held.journal { try check(self.journal, journal) }
    }

    private var identities: (file: FileIdentity, journal: FileIdentity?)? {
        switch state {
        case .any: nil
        case .held(let file, let journal): (file.identity, journal?.identity)
        case .unseen(let file, let journal): (file, journal)
        }
    }

    private func check(_ path: String, _ identity: FileIdentity) throws(VaultError) {
        guard try FileIdentity(path) != identity else { return }
        let name = path.split(separator: "/").last ?? ""
        throw VaultError(.displaced, reason: "another program has replaced or removed \(name); nothing was stored")
    }
}
