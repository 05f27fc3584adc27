package import Authentication

/// What came of something that is written down.
package enum AuditOutcome: Hashable, Sendable {
    /// What was asked for.
    case success

    /// Nothing, for a reason that Apple has a name for.
    case failed(AuthenticationError.Code)

    /// Nothing, as a touch was needed and the prompter is trusted with passwords only.
    case prompterNotTrusted

    /// Nothing, as the screen is locked.
    case sessionLocked

    /// The outcome's name on the bus.
    package var name: String {
        switch self {
        case .success: "success"
        case .failed(let code): code.description
        case .prompterNotTrusted: "prompterNotTrusted"
        case .sessionLocked: "sessionLocked"
        }
    }
}
