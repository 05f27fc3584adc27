import Glibc
import KeychaindGcrypt
package import KeychaindModel

/// A backup to restore, copied into the vault's folder where nobody else can change it; removed on deinit unless
/// restored.
package final class StagedBackup: Sendable {
    package let itemCount: Int

    let header: CollectionHeader
    /// The sealed state, to verify keys with.
    let state: [UInt8]
    let folder: Folder
    /// The file name; the next start removes a leftover.
    let file: String

    /// Copies a file of unknown origin and reads its public part; blocks.
    ///
    /// Throws `unreadable` or `unsupportedFormat` unless it is a keychain, `limitExceeded` when it is too large, and
    /// disk errors.
    init(
        copying source: borrowing OpenedFile,
        to folder: Folder,
        within limits: VaultLimits,
        _ stop: CopyStop = CopyStop()
    ) throws(VaultError) {
        let number = try cipher { () throws(GcryptError) in try RandomBytes.nonce(8) }
        let name = "restore-" + number.hexadecimal()
        file = name + CollectionFormat.unfinishedSuffix
        self.folder = folder
        do throws(VaultError) {
            let target = try OpenedFile(folder.file(file), flags: O_WRONLY | O_CREAT | O_EXCL)
            try stop.setFile(file)
            try source.copyPlainFile(to: target, maximumSize: limits.copyBytes, stop)
            try stop.setFile(nil)
            (header, state, itemCount) = try CollectionFile.examine(file, in: folder)
        } catch {
            Self.remove(file, in: folder)
            throw error
        }
    }

    deinit {
        Self.remove(file, in: folder)
    }

    package var label: String { header.label }

    package var modified: Timestamp { header.modified }

    /// Throws `wrongPassword` or `mistypedRecoveryKey` unless the text opens a key slot and its key opens the state.
    func verify(_ text: borrowing SecureBytes) throws(VaultError) {
        guard let opened = try header.open(with: text) else {
            throw VaultError.noKeySlotOpens
        }
        let keys = try UnlockedKeys(master: opened.master, collection: header.identifier)
        try keys.collection.check(sealedState: state)
    }

    private static func remove(_ file: String, in folder: Folder) {
        try? folder.removeDatabase(file)
    }
}

extension CollectionKeys {
    /// Throws `wrongPassword` unless a state was sealed with these keys.
    func check(sealedState sealed: [UInt8]) throws(VaultError) {
        do throws(GcryptError) {
            _ = try open(sealed, for: AssociatedData(collection: collection, column: .state))
        } catch {
            guard error.code == .authenticationFailed else { throw VaultError(error) }
            throw VaultError(.wrongPassword, reason: "the keys belong to another collection")
        }
    }
}
