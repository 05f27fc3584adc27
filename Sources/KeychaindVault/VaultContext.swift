import KeychaindModel
import Logging

final class ChangeObserver {
    var onChange: ((CollectionName) -> Void)?
    var onProblem: ((CollectionName) -> Void)?
    var onDisplacement: ((Collection) -> Void)?
    var onLoginUnlock: ((LockMoment) -> Void)?
    var admission: (any ChangeAdmission)?
}

/// Decides when a change of an item or a label may begin, so that signals of changes do not pile up.
package protocol ChangeAdmission: AnyObject {
    /// Begins a change, and returns its number; nil if it must wait.
    ///
    /// - Parameter bytes: those of the label and the attributes in the signals.
    func beginAtOnce(_ bytes: Int) -> Int?

    /// The same after a wait.
    func begin(_ bytes: Int) async -> Int

    /// Ends a change, just before its signals are sent.
    func end(_ number: Int)
}

extension ChangeAdmission {
    package func beginAtOnce(_ bytes: Int) -> Int? { nil }
}

/// The objects that the collections of a vault share.
struct VaultContext {
    let configuration: VaultConfiguration

    let folder: Folder

    let locks = LockHistory()

    let login = LoginReference()

    let rules = RulesReference()

    let state = StateReference()

    let indexKey: BlindIndexKey

    let folderWorker: Worker<VaultFolder>

    let audit: AuditTrail

    let observer: ChangeObserver

    let derivations: Derivations

    /// The thread that checks files, and copies them for backups, so that changes need not wait.
    let copyWorker: Worker<Void>
}

/// The condition of `state`, as it was read or written last.
final class StateReference {
    /// The reason why it cannot be read or written for now.
    var obstacle: VaultError?

    /// What was lost of a damaged file, in words.
    var loss: String?

    var problem: String? {
        let wait = obstacle.map { error in
            """
            \(StateFile.name) cannot be used for now, so aliases, the history and records of failed attempts wait: \
            \(error.reason); it is left as it is, and tried again
            """
        }
        return wait ?? loss
    }
}

/// A reference to `login`, whose password is the passcode, for the other collections.
final class LoginReference {
    weak var collection: Collection?

    var hasPasscode: Bool { collection?.header?.hasPassword ?? false }
}
