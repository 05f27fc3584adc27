import KeychaindGcrypt
import KeychaindModel
import Logging

/// A collection's file on its worker thread, with the keys to seal rows.
///
/// The collection in memory is changed only after a method here has returned, when the disk has the change.
final class CollectionWriter {
    let folder: Folder
    let name: CollectionName
    let configuration: VaultConfiguration
    let indexKey: BlindIndexKey
    private let openFiles: OpenFiles

    var file: CollectionFile? {
        didSet {
            if oldValue != nil { openFiles.closed() }
            if file != nil { openFiles.opened() }
        }
    }
    /// What the file had when it was closed, until it is opened again.
    var resting: RestingFile?
    /// The copies and checks that read the file by connections of their own.
    private var readers = 0
    /// The rows, between the beginning of an unlock and its end.
    var ahead: RowsAhead?
    /// A damaged file, which is only read.
    var remains: FileRemains?
    var header: CollectionHeader?
    var keys: CollectionKeys?
    var secretsKey: SecretsKey?
    var state: CollectionState?

    var changes = Changes.unchecked(nil)

    enum Changes {
        /// The structure of the file must be checked for damage first; with the failure of the last attempt.
        case unchecked(VaultError?)
        case accepted
        case refused(VaultError)

        var refusal: VaultError? {
            if case .refused(let error) = self { error } else { nil }
        }
    }

    init(
        _ name: CollectionName,
        in folder: Folder,
        configuration: VaultConfiguration,
        indexKey: BlindIndexKey,
        openFiles: OpenFiles
    ) {
        self.name = name
        self.openFiles = openFiles
        self.folder = folder
        self.configuration = configuration
        self.indexKey = indexKey
    }

    deinit {
        if file != nil { openFiles.closed() }
    }

    func create(
        _ header: CollectionHeader,
        keys: CollectionKeys,
        secretsKey: SecretsKey
    ) throws(VaultError) -> CollectionState {
        let state = CollectionState(created: header.created, modified: header.modified, label: header.label)
        let sealed = try keys.seal(state)
        try CollectionFile.create(name, in: folder, header: header, state: sealed)
        do throws(VaultError) {
            if let obstacle = try openFile().obstacle { throw obstacle }
        } catch {
            file = nil
            try folder.withdraw(name.fileName, after: error)
        }
        self.header = header
        self.keys = keys
        self.secretsKey = secretsKey
        self.state = state
        changes = .accepted
        return state
    }

    func unlock(_ secretsKey: SecretsKey) {
        self.secretsKey = secretsKey
    }

    func lock() {
        secretsKey = nil
    }

    /// What has come of a change.
    struct Written: Sendable {
        /// The sealed secrets that stay in memory, by row.
        let sealedSecrets: [[UInt8]?]

        /// Why it is unknown whether the path leads to the file that has the change; nil if it does.
        let doubt: VaultError?
    }

    func commit(_ change: CollectionChange) throws(VaultError) -> Written {
        do throws(VaultError) {
            return try write(change)
        } catch {
            guard error.code == .storageFull, change.onlyDeletes else { throw error }
            makeRoom()
            return try write(change)
        }
    }

    /// Gives a deletion the reserve of the disk, and the journal from its beginning.
    private func makeRoom() {
        do throws(VaultError) {
            try DiskReserve(in: folder).release()
            // Such a connection holds no locks that another one could drop.
            if file?.obstacle != nil { _ = try openFile() }
            try file?.checkpoint()
        } catch {
            configuration.logger.warning("\(name): a deletion gets no room on the full disk: \(error)")
        }
    }

    private func write(_ change: CollectionChange) throws(VaultError) -> Written {
        let file = try writableFile()
        guard let keys, let secretsKey, let current = state else {
            throw VaultError.collectionLocked
        }
        var sealer = RowSealer(keys: keys, secretsKey: secretsKey, hash: current.hash)
        for row in change.rows { try sealer.add(row) }
        var next = change.state
        next.hash = sealer.hash
        let sealedState = try keys.seal(next)
        let doubt = try file.write(
            sealer.writes,
            label: next.label,
            modified: next.modified,
            state: sealedState,
            version: sealer.neededVersion
        )
        state = next
        let sealedSecrets = sealer.residentSecrets(upTo: configuration.limits.residentSecretBytes)
        return Written(sealedSecrets: sealedSecrets, doubt: doubt)
    }

    func secret(of id: ItemID, key: ItemKey?, revision: UInt64) throws(VaultError) -> Handoff<Secret> {
        guard let secretsKey else { throw VaultError.collectionLocked }
        let sealed = try source().secret(of: id)[...]
        guard let key else { return Handoff(try secretsKey.open(sealed, item: id.rawValue, revision: revision)) }
        return Handoff(try secretsKey.open(sealed, with: key, item: id.rawValue, revision: revision))
    }

    /// Replaces the key slots durably.
    ///
    /// The old ones are gone, or go as soon as no other program reads the file.
    func replaceSlots(
        of old: CollectionHeader,
        with slots: [KeySlot]
    ) throws(VaultError) -> CollectionFile.SlotReplacement {
        let file = try writableFile()
        let replacement = try file.replaceSlots(of: old, with: slots)
        do throws(VaultError) {
            if replacement.present == nil { try file.forgetReplaced() }
        } catch {
            configuration.logger.warning(
                "\(name): the old key slots are still on the disk, until the file is free: \(error)"
            )
        }
        return replacement
    }

    /// Prepares the journal for the next change: checkpoints a long one without waiting for a pause.
    func prepareForNextCommit() {
        guard changes.refusal == nil else { return }
        // A file that is soon closed would reserve it again.
        if !openFiles.areMany { file?.reserveJournal() }
        if file?.journalIsLong == true { checkpoint() }
    }

    /// Moves the journal into the file; a failure loses nothing, since the journal stays.
    func checkpoint() {
        guard changes.refusal == nil else { return }
        do throws(VaultError) {
            try file?.checkpoint()
        } catch {
            configuration.logger.warning("\(name): the journal could not be moved into the file and stays: \(error)")
        }
        file?.releaseMemory()
    }

    /// Stores a change of nothing; throws if changes still fail as one has before.
    func tryDisk(after error: VaultError) throws(VaultError) {
        let file = try writableFile()
        // The journal has room of its own, which says nothing about the disk.
        if error.code == .storageFull, !DiskReserve(in: folder).hasRoom { throw error }
        try file.tryDisk()
    }

    /// Moves the journal into the file in a pause, and closes the file if many are open.
    ///
    /// A file that was opened beside another connection is closed, too: the next change finds it alone again.
    func rest() {
        checkpoint()
        if openFiles.areMany || file?.isShared == true && readers == 0 { closeForNow() }
    }

    /// Lets other connections of this process read the file until ``dismissReader()``.
    func admitReader() throws(VaultError) {
        if file?.isShared == false {
            try retryingRead { (isAgain) throws(VaultError) in
                if isAgain { file?.releaseMemory() }
                try leaveFile()
            }
        }
        readers += 1
    }

    func dismissReader() {
        readers -= 1
    }

    /// Closes the file and its journal as they are, until they are needed.
    private func leaveFile() throws(VaultError) {
        guard let file, file.obstacle == nil else { return }
        try file.database.confirm()
        let contents = try RestingFile(file)
        ahead = nil
        self.file = nil
        resting = contents.closed(presentStamp)
    }

    /// The stamp of the file; nil if it is unknown, so that the file is verified when it is opened again.
    private var presentStamp: FileStamp? { try? FileStamp(folder.file(name.fileName)) }

    /// Closes the file without a pause, so that descriptors are bounded while all collections have work.
    func restIfTooMany() {
        if openFiles.areTooMany { closeForNow() }
    }

    /// Closes the file until it is needed, if nothing would be lost; otherwise it stays open.
    private func closeForNow() {
        guard let file, file.obstacle == nil else { return }
        do throws(VaultError) {
            try file.database.confirm()
            let contents = try RestingFile(file)
            try file.finish(isSound: changes.refusal == nil && state != nil)
            ahead = nil
            self.file = nil
            resting = contents.closed(presentStamp)
        } catch {
            configuration.logger.debug("\(name): the file stays open: \(error)")
        }
    }

    func close() {
        do throws(VaultError) {
            // A copy may have left the journal.
            if resting != nil, try folder.size(of: name.fileName + "-wal") > 0 { _ = try openedFile() }
            try file?.finish(isSound: changes.refusal == nil && state != nil)
        } catch {
            configuration.logger.warning("\(name): the journal could not be moved into the file and stays: \(error)")
        }
        file = nil
        ahead = nil
        remains = nil
        resting = nil
        keys = nil
        secretsKey = nil
    }

    /// Deletes the file durably; ``VaultFolder/finish(_:)`` removes what is left of it.
    ///
    /// After an error the file stays in use. Throws `displaced` if another program has put a file in its place.
    func remove(by deletion: FileDeletion) throws(VaultError) {
        guard folder.isWritable else { throw VaultError(.readOnly, reason: "the data folder is read-only") }
        if resting != nil { _ = try openedFile() }
        try file?.checkPlace()
        try deletion.begin()
        file = nil
        ahead = nil
        remains = nil
        resting = nil
        keys = nil
        secretsKey = nil
    }

    private func openFile() throws(VaultError) -> CollectionFile {
        let file = try CollectionFile(
            name.fileName,
            in: folder,
            limits: configuration.limits,
            maximumPages: configuration.maximumPages,
            shared: readers > 0
        )
        self.file = file
        return file
    }

    /// Opens the file without what the present connection has read.
    func reopenFile() throws(VaultError) -> CollectionFile {
        ahead = nil
        // Two descriptors of one process would lose each other's locks.
        file = nil
        resting = nil
        return try openFile()
    }

    func openedFile() throws(VaultError) -> CollectionFile {
        if let file { return file }
        guard let contents = resting else {
            throw VaultError(.storageFailed, reason: "the collection's file is closed")
        }
        guard let stamp = try FileStamp(folder.file(name.fileName)) else { throw displaced }
        do throws(VaultError) {
            let file = try retryingRead(until: { file in file.passingObstacle == nil }) { (_) throws(VaultError) in
                self.file = nil
                let file = try openFile()
                guard try RestingFile(file).isSame(as: contents) else { throw displaced }
                if stamp != contents.stamp { try verify(file) }
                return file
            }
            // Otherwise it can only be read for now, and is closed to be changed.
            if file.passingObstacle == nil { resting = nil }
            return file
        } catch {
            file = nil
            // It was sound when it was closed.
            throw error.code == .unreadable ? displaced : error
        }
    }

    /// Opens a file again that another program has written into, or may have.
    private func openTouchedFile() throws(VaultError) -> CollectionFile {
        // Otherwise the new connection would apply what a failed commit has left.
        try file?.database.settle()
        // What this connection has read may no longer be there, and its journal must not be moved into the file.
        let contents = file.flatMap { file in try? RestingFile(file) }
        ahead = nil
        file = nil
        resting = contents
        guard contents != nil else { throw displaced }
        return try openedFile()
    }

    /// Throws `displaced` unless a file that another program has written into has all that was stored, and no more.
    private func verify(_ file: CollectionFile) throws(VaultError) {
        guard let keys, let state else { return }
        let report = try FileCheck.run(on: file.database, keys: CheckKeys(collection: keys, secrets: secretsKey))
        guard report.isSound, try keys.openState(file.state()) == state else { throw displaced }
    }

    private var displaced: VaultError {
        VaultError(.displaced, reason: "another program has replaced or changed \(name.fileName); nothing was stored")
    }

    func source() throws(VaultError) -> any CollectionSource {
        if let remains { return remains }
        return try openedFile()
    }

    private func presentFile() throws(VaultError) -> CollectionFile {
        // No reference may stay here: the old connection would keep the new one out.
        if try file?.database.isTouched() == true { return try openTouchedFile() }
        return try openedFile()
    }

    func writableFile() throws(VaultError) -> CollectionFile {
        if remains != nil, let refusal = changes.refusal { throw refusal }
        // The disk may work again by now.
        if resting != nil { file = nil }
        let file = try presentFile()
        if case .unchecked(.some) = changes { checkStructure() }
        if case .unchecked(let failure?) = changes { throw failure }
        if let refusal = changes.refusal { throw refusal }
        if let obstacle = file.obstacle { throw obstacle }
        return file
    }
}
