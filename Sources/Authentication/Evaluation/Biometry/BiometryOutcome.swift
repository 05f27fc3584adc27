/// How one match ended.
package enum BiometryOutcome: Hashable, Sendable {
    /// It was an enrolled finger: its name as the service has it, such as `right-index-finger`; empty if it was not told.
    case matched(finger: String)

    /// It was a finger, and none of the enrolled ones. This is what counts towards the lockout.
    case notMatched

    /// There was no comparison: the reader went away, the service failed or stayed silent, or the match was cancelled.
    case failed(AuthenticationError)
}
