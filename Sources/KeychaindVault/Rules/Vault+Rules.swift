import CKeychaindLinux
import Glibc
import KeychaindGcrypt

/// The content of the rules' file, as it was opened or written last.
final class RulesReference {
    var content = RulesFile.Content.none
}

/// The rules of the user, sealed with a key of `login`.
extension Vault {
    /// The state of the stored rules.
    package enum StoredRules: Sendable {
        /// There are none.
        case none
        /// They need the first unlock of `login` since the start.
        case sealed
        case opened([UInt8])
        case unreadable(reason: String)
    }

    /// Opens the stored rules.
    package func storedRules() -> StoredRules {
        guard let context else { return .unreadable(reason: "the keychains are closed") }
        switch context.rules.content {
        case .none: return .none
        case .unreadable(let reason): return .unreadable(reason: reason)
        case .sealed(let sealed, let identifier):
            guard let login = context.login.collection, let header = login.header else {
                // Without its header, nothing says which `login` sealed them.
                return .unreadable(reason: "the rules belong to a login keychain that is not there")
            }
            guard header.identifier == identifier else {
                return .unreadable(reason: "the rules belong to another login keychain")
            }
            guard let keys = login.keys else { return .sealed }
            let place = AssociatedData(collection: keys.collection, column: .rules)
            guard let plaintext = try? keys.open(sealed, for: place) else {
                return .unreadable(reason: "the rules were damaged or changed by another program")
            }
            return .opened(plaintext)
        }
    }

    /// Whether `login` has been unlocked since the start, so that rules can be opened and stored.
    package var hasRulesKey: Bool { context?.login.collection?.keys != nil }

    /// Stores the rules durably.
    ///
    /// Throws `locked` before the first unlock of `login`, `unreadable` instead of overwriting what cannot be read, and
    /// disk errors.
    package func storeRules(_ plaintext: [UInt8]) async throws(VaultError) {
        guard let context else { throw VaultError.vaultClosed }
        guard let keys = context.login.collection?.keys else {
            throw VaultError(.locked, reason: "the login keychain must be unlocked first")
        }
        if case .unreadable(let reason) = storedRules() { throw VaultError(.unreadable, reason: reason) }
        let sealed = try cipher { () throws(GcryptError) in
            try keys.seal(plaintext, for: AssociatedData(collection: keys.collection, column: .rules))
        }
        try await context.folderWorker.perform { (folder) throws(VaultError) in
            try folder.writeRules(sealed, collection: keys.collection)
        }
        context.rules.content = .sealed(sealed, collection: keys.collection)
    }

    /// Keeps rules that cannot be read in another file, and starts without any.
    package func setRulesAside() async throws(VaultError) {
        guard let context else { throw VaultError.vaultClosed }
        try await context.folderWorker.perform { (folder) throws(VaultError) in try folder.setRulesAside() }
        context.rules.content = .none
    }
}

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
