import Glibc
import KeychainModel

/// A copy of a collection's file that only a password or a recovery key opens.
///
/// Without the slots of this machine and of the passcode: a leaked password of `login` then opens no copy of another
/// keychain.
struct SealedCopy: Sendable {
    /// The kinds of slots that are kept.
    private static let kinds: [KeySlot.Kind] = [.password, .recoveryKey]

    private let name: CollectionName
    private let folder: Folder

    init(of name: CollectionName, in folder: Folder) {
        self.name = name
        self.folder = folder
    }

    /// Creates the copy in the vault's folder, passes it to `body` and removes it.
    ///
    /// Blocks. Works beside a concurrent writer.
    func make(_ body: (borrowing OpenedFile) throws(VaultError) -> Void) throws(VaultError) {
        let file = "backup-" + name.encoded + CollectionFormat.unfinishedSuffix
        let database = try Database(path: folder.file(name.encoded + CollectionFormat.suffix), mode: .readWrite)
        try remove(file)
        defer { try? remove(file) }
        try folder.makeEmptyFile(file)
        let copy = try database.prepare("VACUUM INTO ?1")
        try copy.bind(folder.file(file), at: 1)
        try copy.run()
        try removeOtherSlots(from: file)
        try body(try OpenedFile(folder.file(file), flags: O_RDONLY))
    }

    private func removeOtherSlots(from file: String) throws(VaultError) {
        let kinds = Self.kinds.map { kind in String(kind.rawValue) }.joined(separator: ", ")
        let database = try Database(path: folder.file(file), mode: .readWrite)
        // Deleted data is overwritten. An interrupted copy is discarded, so it needs no journal on the disk.
        try database.execute("PRAGMA secure_delete = ON; PRAGMA synchronous = OFF")
        guard try database.text("PRAGMA journal_mode = MEMORY") == "memory" else {
            throw VaultError(.storageFailed, reason: "SQLite refused a journal in memory")
        }
        try database.execute("DELETE FROM slot WHERE kind NOT IN (\(kinds))")
        // Removes the freed pages.
        try database.execute("VACUUM")
        guard try database.integer("SELECT count(*) FROM slot") > 0 else {
            throw VaultError(.notSupported, reason: "the collection has no password")
        }
    }

    private func remove(_ file: String) throws(VaultError) {
        for suffix in ["", "-wal", "-shm", "-journal"] { try folder.remove(file + suffix) }
    }
}
