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
