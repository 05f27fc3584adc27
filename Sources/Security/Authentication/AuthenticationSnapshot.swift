package import SecretServiceClient

/// A program's own authentication as it was when a call began; the rest of the call does not look at the program's objects again.
package protocol AuthenticationSnapshot: Sendable {
    /// Whether grants last for as long as its authentication does; if not, each is for one call.
    var keepsGrants: Bool { get }

    /// Whether a person may be asked.
    var isInteractionAllowed: Bool { get }

    /// The provider's context that stands for it, looking as it is to look; nil from a provider that has none.
    ///
    /// Throws if the program has ended it.
    ///
    /// - Parameter reason: what is shown unless it has a reason of its own.
    func context(on client: SecretClient, reason: String) async throws(SecretServiceError) -> AuthenticationContext?
}
