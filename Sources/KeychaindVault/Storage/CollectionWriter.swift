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
    let openFiles: OpenFiles

    var file: CollectionFile? {
        didSet {
            if oldValue != nil { openFiles.closed() }
            if file != nil { openFiles.opened() }
        }
    }
    /// The state of a file that is closed for now; nil while it is open.
    var resting: RestingFile?
    /// The copies and checks that read the file by connections of their own.
    var readers = 0
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

    /// A secret, and which revision it is of.
    struct StoredSecret: Sendable {
        let secret: Handoff<Secret>
        let revision: UInt64
    }

    /// Opens the stored secret of an item.
    ///
    /// - Parameter next: the revision from a change that was being written when the read was asked for. The file may
    ///   have it by now, but no later one: the next change is written after the read.
    func secret(
        of id: ItemID,
        key: ItemKey?,
        revision: UInt64,
        orOf next: UInt64?
    ) throws(VaultError) -> StoredSecret {
        guard let secretsKey else { throw VaultError.collectionLocked }
        let sealed = try source().secret(of: id)[...]
        func open(_ revision: UInt64) throws(VaultError) -> StoredSecret {
            let secret =
                if let key {
                    try secretsKey.open(sealed, with: key, item: id.rawValue, revision: revision)
                } else {
                    try secretsKey.open(sealed, item: id.rawValue, revision: revision)
                }
            return StoredSecret(secret: Handoff(secret), revision: revision)
        }
        if let next, let secret = try? open(next) { return secret }
        return try open(revision)
    }

    func source() throws(VaultError) -> any CollectionSource {
        if let remains { return remains }
        return try openedFile()
    }

    func close() {
        do throws(VaultError) {
            // A copy may have left the journal.
            if resting != nil, try folder.size(of: name.fileName + "-wal") > 0 { _ = try openedFile() }
            try file?.finish(isSound: changes.refusal == nil && state != nil)
        } catch {
            configuration.logger.warning("\(name): the journal could not be moved into the file and stays: \(error)")
        }
        forget()
    }

    /// Deletes the file durably; ``VaultFolder/finish(_:)`` removes what is left of it.
    ///
    /// After an error the file stays in use. Throws `displaced` if another program has put a file in its place.
    func remove(by deletion: FileDeletion) throws(VaultError) {
        guard folder.isWritable else { throw VaultError(.readOnly, reason: "the data folder is read-only") }
        if resting != nil { _ = try openedFile() }
        try file?.checkPlace()
        try deletion.begin()
        forget()
    }

    private func forget() {
        file = nil
        remains = nil
        resting = nil
        keys = nil
        secretsKey = nil
    }
}
