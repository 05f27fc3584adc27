/// Whether a passcode was right.
package enum PasscodeOutcome: Hashable, Sendable {
    /// It was; what it opens is in the hands of who verified it.
    case right

    /// It was not. This is what counts towards the delay.
    case wrong

    /// It could not be tried, such as for lack of memory; why, in words for a log.
    case failed(reason: String)
}
