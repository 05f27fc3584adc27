/// What came of trying a passcode.
package enum PasscodeAttempt: Hashable, Sendable {
    /// It was right.
    case right

    /// It was wrong, and counts.
    case wrong

    /// It was not tried, since so much time has to pass first.
    case tooEarly(Duration)

    /// It could not be tried; why, in words for a log.
    case failed(reason: String)
}
