import KeychaindModel
import Logging

final class ChangeObserver {
    var onChange: ((CollectionName) -> Void)?
    var onProblem: ((CollectionName) -> Void)?
    var onDisplacement: ((Collection) -> Void)?
}

/// The objects that the collections of a vault share.
struct VaultContext {
    let configuration: VaultConfiguration

    let folder: Folder

    let login = LoginReference()

    let rules = RulesReference()

    let indexKey: BlindIndexKey

    let folderWorker: Worker<VaultFolder>

    let audit: AuditTrail

    let observer: ChangeObserver

    /// Derives keys from passwords; one thread is enough, because each derivation takes much memory.
    let derivationWorker: Worker<Void>

    /// The thread that copies generations and backups, so that changes need not wait.
    let copyWorker: Worker<Void>
}

/// A reference to `login`, whose password is the passcode, for the other collections.
final class LoginReference {
    weak var collection: Collection?

    var hasPasscode: Bool { collection?.header?.hasPassword ?? false }
}
