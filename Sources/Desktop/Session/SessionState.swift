/// Whether a person is in front of the session, as far as logind tells.
package enum SessionState: Hashable, Sendable {
    /// It cannot be told: there is no system bus, no logind, or no session of the user's. It counts as unlocked.
    case unknown
    /// A person has the session.
    case unlocked
    /// The session was asked to lock; whether its screen is locked is not known yet.
    case locking
    /// The screen is locked.
    case locked

    /// Whether what needs an unlocked session has to wait.
    package var isLocked: Bool {
        switch self {
        case .unknown, .unlocked: false
        case .locking, .locked: true
        }
    }
}
