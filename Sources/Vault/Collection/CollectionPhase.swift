/// What a collection is doing, with what it has for that.
///
/// It is what ``Collection/State`` shows to others, and more: a deleted collection looks locked to who still holds it.
enum CollectionPhase {
    /// There is no file yet.
    case vacant

    /// The secrets cannot be had.
    case locked

    /// A password is being tried; at the end the collection is locked all the same if that was wished for meanwhile.
    case unlocking(lockIsWanted: Bool)

    /// The secrets can be had, by this key, which goes with the phase.
    case unlocked(SecretsKey)

    /// The file cannot be read.
    case unreadable(reason: String)

    /// The collection was deleted, and nothing becomes of it any more.
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
