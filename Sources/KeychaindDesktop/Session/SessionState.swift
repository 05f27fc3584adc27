/// The session state that logind reports.
package enum SessionState: Hashable, Sendable {
    /// There is no system bus, no logind, or no session of the user. Counts as unlocked.
    case unknown
    case unlocked
    /// A lock was requested, and the screen locker has not confirmed it yet.
    case locking
    case locked

    /// Whether the session counts as locked.
    package var isLocked: Bool {
        switch self {
        case .unknown, .unlocked: false
        case .locking, .locked: true
        }
    }
}

/// A change of the session or the machine.
package enum SessionEvent: Hashable, Sendable {
    /// The session is locked, or about to be.
    case locked
    case unlocked
    /// The session was not used for a while; the desktop decides how long.
    case idle
    case active
    /// The machine sleeps once all handlers were called.
    case aboutToSleep
    /// The machine woke up, or did not sleep after all.
    case wokeUp
    /// The session has ended, but this process has not.
    case ended
}
