package import Gcrypt

/// What a dialog answers; it cannot be copied, since a password may be in it.
package enum EvaluationAnswer: ~Copyable, Sendable {
    /// What was typed; it may be empty.
    case password(SecureBytes)

    /// The person wants another way than the reader.
    case fallback

    /// The person has cancelled.
    case cancelled

    /// The question was taken back, by the evaluation or by who has let it use the dialog.
    case withdrawn

    /// The question was not put, or its answer does not count, since a touch would have been an answer and the dialog is not trusted.
    case untrusted(reason: String)

    /// There is no answer, since the prompter is not there, has crashed or stays silent.
    case failed(AuthenticationError)
}
