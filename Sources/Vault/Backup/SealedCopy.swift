import Glibc
import KeychainModel

/// A copy of a collection's file that opens only with a password or a recovery key.
///
/// The key slots of this computer are left out, and those of the passcode: where the password of `login` has become known, it opens
/// nothing in a copy of another keychain.
struct SealedCopy: Sendable {
    /// The slots that stay.
    private static let kinds: [KeySlot.Kind] = [.password, .recoveryKey]

    private let name: CollectionName
    private let folder: Folder

    init(of name: CollectionName, in folder: Folder) {
        self.name = name
        self.folder = folder
    }

    /// Makes the copy in the vault's folder, gives it to `body`, and removes it; blocks for as long as the disk takes.
    ///
    /// It reads beside whoever writes.
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
        // What is deleted is overwritten; a copy that does not come to its end is thrown away, so it needs no journal on the disk.
        try database.execute("PRAGMA secure_delete = ON; PRAGMA synchronous = OFF")
        guard try database.text("PRAGMA journal_mode = MEMORY") == "memory" else {
            throw VaultError(.storageFailed, reason: "SQLite insists on a journal on the disk")
        }
        try database.execute("DELETE FROM slot WHERE kind NOT IN (\(kinds))")
        // The freed pages go, too.
        try database.execute("VACUUM")
        guard try database.integer("SELECT count(*) FROM slot") > 0 else {
            throw VaultError(.notSupported, reason: "no password opens it")
        }
    }

    private func remove(_ file: String) throws(VaultError) {
        for suffix in ["", "-wal", "-shm", "-journal"] { try folder.remove(file + suffix) }
    }
}
