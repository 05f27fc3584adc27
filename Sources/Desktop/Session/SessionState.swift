/// The state of the session, as logind reports it.
package enum SessionState: Hashable, Sendable {
    /// Unknown: there is no system bus, no logind, or no session of the user. Counts as unlocked.
    case unknown
    /// The screen is not locked.
    case unlocked
    /// The session was asked to lock, and the screen locker has not confirmed yet.
    case locking
    /// The screen is locked.
    case locked

    /// Whether the session counts as locked.
    package var isLocked: Bool {
        switch self {
        case .unknown, .unlocked: false
        case .locking, .locked: true
        }
    }
}

/// What happens to the session, as those are told who have to act on it.
package enum SessionEvent: Hashable, Sendable {
    /// The session was unlocked and is locked, or about to be.
    case locked
    /// The session was locked and is no more.
    case unlocked
    /// Nobody has used the session for a while; how long that is, the desktop decides.
    case idle
    /// Somebody uses the session again.
    case active
    /// The machine is about to sleep; once all have been told, it may.
    case aboutToSleep
    /// The machine has woken up, or did not sleep after all.
    case wokeUp
    /// The session has ended, though this process has not.
    case ended
}
