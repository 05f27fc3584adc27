import KeychainModel
import Logging

final class ChangeObserver {
    var onChange: ((CollectionName) -> Void)?
}

/// The objects that the collections of a vault share.
struct VaultContext {
    let configuration: VaultConfiguration

    let folder: Folder

    let login = LoginReference()

    let indexKey: BlindIndexKey

    /// The thread that owns the folder and the files that belong to no collection.
    let folderWorker: Worker<VaultFolder>

    /// The audit entries to be written.
    let audit: AuditTrail

    let observer: ChangeObserver

    /// The thread that derives keys from passwords.
    ///
    /// One is enough: each derivation takes much memory.
    let derivationWorker: Worker<Void>

    /// The thread that copies generations and backups, so that changes need not wait.
    let copyWorker: Worker<Void>
}

/// A reference to `login`, whose password is the passcode, for the other collections.
final class LoginReference {
    /// The collection; replaced when `login` is deleted.
    weak var collection: Collection?

    var hasPasscode: Bool { collection?.header?.hasPassword ?? false }
}
