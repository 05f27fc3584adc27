/// The file, as it was read last.
enum FileCondition {
    case sound

    /// Parts are lost or not genuine.
    case damaged
}

/// The disk, as the last attempt to read or change the file found it.
enum DiskPhase: Equatable {
    case working

    /// The file could not be opened; the cause may pass.
    case unread(VaultError)

    /// The file could be opened only to read; the cause may pass.
    case readOnly(VaultError)

    /// The last change was refused.
    case failing(VaultError)

    /// The error of the last change.
    var failure: VaultError? {
        if case .failing(let error) = self { error } else { nil }
    }

    var problem: String? {
        switch self {
        case .working: nil
        case .readOnly(let error): "the file cannot be changed for now: \(error.reason); it is tried again"
        case .unread: "the file is left as it is, and tried again"
        case .failing(let error): "the last change could not be stored: \(error.reason)"
        }
    }
}

/// The phase of a collection with its keys; callers see it as ``Collection/State``, and a final one as locked.
enum CollectionPhase {
    case vacant

    case locked

    /// A password is being tried; `isLockRequested` when a lock was requested meanwhile.
    case unlocking(isLockRequested: Bool)

    case unlocked(SecretsKey)

    case unreadable(reason: String)

    /// Final.
    case deleted

    /// Final: another object is about to take its place. Its items can still be found, as in a locked collection.
    case retired

    var state: Collection.State {
        switch self {
        case .vacant: .vacant
        case .locked, .deleted, .retired: .locked
        case .unlocking: .unlocking
        case .unlocked: .unlocked
        case .unreadable(let reason): .unreadable(reason: reason)
        }
    }
}
