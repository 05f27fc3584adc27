package import Gcrypt

/// What became of a question to a person; it cannot be copied, since a password may be in it.
///
/// What the system does is no answer but a ``PromptError``: a prompter that is not there, ends, stays silent, or takes its dialog away.
package enum PromptAnswer: ~Copyable, Sendable {
    /// The password; it may be empty.
    case password(SecureBytes)
    /// Yes.
    case confirmed
    /// The button that ``PromptRequest/fallbackLabel`` names.
    case fallback
    /// No: the person has cancelled, or has closed the window.
    case cancelled
    /// None: the daemon has taken the question back.
    case withdrawn
}
