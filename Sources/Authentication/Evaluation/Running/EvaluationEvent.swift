import KeychainModel

/// Something that happens during an evaluation, told to the one loop that acts on it.
enum EvaluationEvent: Hashable, Sendable {
    /// It is its turn to ask; or why it will never be.
    case turn(AuthenticationError?)

    /// The dialog is there.
    case shown

    /// The reader wants something of the person, in the match with the number.
    case hint(BiometryHint, match: Int)

    /// The match with the number has ended.
    case touched(BiometryOutcome, match: Int)

    /// A typed password was tried; the factor is what it proves if it is right.
    case typed(PasswordResult, proving: Factor)

    /// The question was answered, and not by a password.
    case answered(AuthenticationError)

    /// The question was not put to a prompter that is not trusted.
    case untrusted(reason: String)

    /// The question was taken back.
    case withdrawn

    /// The system's dialog has ended; nil if the person has proved to be the owner.
    case systemAnswered(AuthenticationError?)

    /// It is over, for a reason from outside.
    case cancelled(AuthenticationError)
}
