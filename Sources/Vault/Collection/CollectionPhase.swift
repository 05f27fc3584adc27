/// The phase of a collection, with its keys.
///
/// Callers see it as ``Collection/State``; a deleted collection looks locked.
enum CollectionPhase {
    /// There is no file yet.
    case vacant

    /// The secrets cannot be read.
    case locked

    /// A password is being tried; `lockIsWanted` when a lock was requested meanwhile.
    case unlocking(lockIsWanted: Bool)

    /// The secrets can be read with this key.
    case unlocked(SecretsKey)

    /// The file cannot be read.
    case unreadable(reason: String)

    /// The collection was deleted; this phase is final.
    case deleted

    /// The state for callers.
    var state: Collection.State {
        switch self {
        case .vacant: .vacant
        case .locked, .deleted: .locked
        case .unlocking: .unlocking
        case .unlocked: .unlocked
        case .unreadable(let reason): .unreadable(reason: reason)
        }
    }
}

/// The state of group commit.
enum CommitPhase {
    /// No write is running.
    case idle

    /// A write is running; these changes come next.
    case writing(waiting: ArraySlice<PendingMutation>)
}
