import KeychainModel

/// What came of a password that was typed.
enum TypedOutcome: Hashable, Sendable {
    /// It proves the factor.
    case proved(Factor)

    /// It proves nothing; the next passcode is not tried before so much time has passed, which may be none.
    case wrong(wait: Duration)

    /// It was not tried, since so much time has to pass first.
    case tooEarly(Duration)

    /// It could not be tried; why, in words for a log.
    case failed(reason: String)
}
