import Gcrypt
import Glibc
package import KeychainModel

/// A copy of a keychain's file that may be restored: in the vault's folder, where nobody can change it any more, until it takes a
/// collection's place or this object goes.
package final class StagedBackup: Sendable {
    /// The longest file that is taken, in bytes.
    package static let maximumSize: Int64 = 1 << 30

    /// How many items are in it.
    package let itemCount: Int

    let header: CollectionHeader
    /// The sealed state, which only the keys of the collection open.
    private let state: [UInt8]
    private let folder: Folder
    /// The name in the folder: what a crash leaves of it goes at the next start.
    let file: String

    /// Copies a file, which may be anything, and reads what needs no key; blocks for as long as the disks take.
    ///
    /// Throws `unreadable` or `unsupportedFormat` unless it is a keychain, `limitExceeded` when it is too long, and what the disk may.
    init(copying source: borrowing OpenedFile, to folder: Folder) throws(VaultError) {
        let number = try cipher { () throws(GcryptError) in try RandomBytes.nonce(8) }
        let name = "restore-" + number.map { byte in String(byte, radix: 16) }.joined()
        file = name + CollectionFormat.unfinishedSuffix
        self.folder = folder
        do throws(VaultError) {
            let target = try OpenedFile(folder.file(file), flags: O_WRONLY | O_CREAT | O_EXCL)
            try source.copyPlainFile(to: target, maximumSize: Self.maximumSize)
            (header, state, itemCount) = try CollectionFile.examine(file, in: folder)
        } catch {
            Self.remove(file, in: folder)
            throw error
        }
    }

    deinit {
        Self.remove(file, in: folder)
    }

    /// The name for people that it had.
    package var label: String { header.label }

    /// When it was last changed.
    package var modified: Timestamp { header.modified }

    /// Throws `wrongPassword`, or `mistypedRecoveryKey`, unless a text opens the backup: a key slot, and with that what it protects.
    func verify(_ text: borrowing SecureBytes) throws(VaultError) {
        guard let opened = try header.open(with: text) else {
            throw VaultError(.wrongPassword, reason: "the password opens no key slot")
        }
        let keys = try UnlockedKeys(master: opened.master, collection: header.identifier)
        try keys.collection.check(sealedState: state)
    }

    private static func remove(_ file: String, in folder: Folder) {
        for suffix in ["", "-wal", "-shm", "-journal"] { try? folder.remove(file + suffix) }
    }
}

extension CollectionKeys {
    /// Throws `wrongPassword` unless a collection was sealed with these keys.
    func check(sealedState sealed: [UInt8]) throws(VaultError) {
        var plaintext: [UInt8] = []
        do throws(GcryptError) {
            _ = try sealed.withRawBytes { (sealed) throws(GcryptError) in
                try open(sealed, for: AssociatedData(collection: collection, column: .state), into: &plaintext)
            }
        } catch {
            guard error.code == .authenticationFailed else { throw VaultError(error) }
            throw VaultError(.wrongPassword, reason: "the keys are those of another collection")
        }
    }
}
