/// What a collection is doing, with what it has for that.
///
/// It is what ``Collection/State`` shows to others, and more: to those that still hold it, a deleted one looks locked.
enum CollectionPhase {
    /// There is no file yet.
    case vacant

    /// The secrets cannot be read.
    case locked

    /// A password is being tried; afterwards the collection is locked all the same if that was asked for meanwhile.
    case unlocking(lockIsWanted: Bool)

    /// The secrets can be read with this key, which goes with the phase.
    case unlocked(SecretsKey)

    /// The file cannot be read.
    case unreadable(reason: String)

    /// The collection was deleted; no other phase follows.
    case deleted

    /// What others see.
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

/// Who writes the changes of a collection, and who waits for that.
enum CommitPhase {
    /// Nobody writes.
    case idle

    /// Somebody writes, and these come next.
    case writing(waiting: ArraySlice<PendingMutation>)
}
