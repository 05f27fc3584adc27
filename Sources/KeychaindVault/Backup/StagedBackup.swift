import Glibc
import KeychaindGcrypt
import KeychaindLog
package import KeychaindModel

/// A backup to restore, copied into the vault's folder where nobody else can change it; removed on deinit unless
/// restored.
package final class StagedBackup: Sendable {
    package let itemCount: Int

    let header: CollectionHeader
    /// The file as it is now, by which it is known after the restore.
    let position: LogPosition
    let folder: Folder
    /// The file name; the next start removes a leftover.
    let file: String

    private let configuration: VaultConfiguration

    var path: String { folder.file(file) }

    /// Makes the file and reads its public part; blocks.
    ///
    /// Throws `unreadable` or `unsupportedFormat` unless it is a keychain, and what `make` throws, which gets the name.
    private init(
        in folder: Folder,
        _ configuration: VaultConfiguration,
        _ make: (_ file: String) throws(VaultError) -> Void
    ) throws(VaultError) {
        let number = try cipher { () throws(GcryptError) in try RandomBytes.nonce(8) }
        file = "restore-" + number.hexadecimal() + CollectionFormat.unfinishedSuffix
        self.folder = folder
        self.configuration = configuration
        do throws(VaultError) {
            try make(file)
            let log = try CollectionLog(folder.file(file), readOnly: true, configuration)
            (header, itemCount, position) = (try log.header(), log.itemCount, log.records.position)
        } catch {
            try? folder.remove(file)
            throw error
        }
    }

    /// Copies a file of unknown origin; also throws `limitExceeded` when it is too large, and disk errors.
    convenience init(
        copying source: borrowing OpenedFile,
        to folder: Folder,
        _ configuration: VaultConfiguration,
        _ stop: CopyStop = CopyStop()
    ) throws(VaultError) {
        try self.init(in: folder, configuration) { (file) throws(VaultError) in
            let target = try OpenedFile(folder.file(file), flags: O_WRONLY | O_CREAT | O_EXCL)
            try stop.setFile(file)
            try source.copyPlainFile(to: target, maximumSize: configuration.limits.copyBytes, stop)
            try stop.setFile(nil)
        }
    }

    /// Copies a past state of a keychain's own file, with the present key slots.
    convenience init(
        of sequence: UInt64,
        in log: CollectionLog,
        _ keys: CollectionKeys,
        to folder: Folder,
        _ configuration: VaultConfiguration
    ) throws(VaultError) {
        let slots = try CollectionLog.slotChanges(log.header())
        try self.init(in: folder, configuration) { (file) throws(VaultError) in
            var rewriting = Rewriting()
            (rewriting.last, rewriting.changes) = (sequence, slots)
            try logged { () throws(LogError) in
                _ = try log.records.copy(to: folder.file(file), rewriting, keys.log)
            }
        }
    }

    deinit {
        try? folder.remove(file)
    }

    package var label: String { header.label }

    package var modified: Timestamp { header.modified }

    func log() throws(VaultError) -> CollectionLog { try CollectionLog(path, readOnly: true, configuration) }

    /// Throws `wrongPassword` or `mistypedRecoveryKey` unless the text opens a key slot and its key opens the state.
    func verify(_ text: borrowing SecureBytes) throws(VaultError) {
        guard let opened = try header.open(with: text) else { throw VaultError.noKeySlotOpens }
        let keys = try UnlockedKeys(master: opened.master, collection: header.identifier)
        guard try log().state(keys.collection) != nil else { throw VaultError.keysOfAnotherCollection }
    }
}

extension VaultError {
    static let keysOfAnotherCollection = VaultError(
        .wrongPassword,
        reason: "the keys belong to another collection"
    )
}
