import KeychainModel
import Logging

/// Who is told that a collection was changed.
final class ChangeObserver {
    var onChange: ((CollectionName) -> Void)?
}

/// What the collections of a vault share.
struct VaultContext {
    /// The folder, the clock and the limits.
    let configuration: VaultConfiguration

    /// The folder of the collections' files.
    let folder: Folder

    /// The collection whose password is the passcode.
    let login = LoginReference()

    /// The key of the blind index.
    let indexKey: BlindIndexKey

    /// The thread that has the folder and the files of no collection.
    let clerk: Worker<VaultFolder>

    /// The entries of the audit that wait to be written.
    let audit: AuditTrail

    /// Who is told of changes.
    let observer: ChangeObserver

    /// The one thread that derives keys from passwords: each derivation takes much memory, so one at a time is enough.
    let deriver: Worker<Void>

    /// The thread that copies past generations, out of the way of every change.
    let keeper: Worker<Void>
}
