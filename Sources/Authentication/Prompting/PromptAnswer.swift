package import Gcrypt

/// What a person has answered; it cannot be copied, since a password may be in it.
package enum PromptAnswer: ~Copyable, Sendable {
    /// The password; it may be empty.
    case password(SecureBytes)
    /// Yes.
    case confirmed
    /// No, or no answer: cancelled, the window closed, or the dialog closed by the daemon.
    case dismissed
}
