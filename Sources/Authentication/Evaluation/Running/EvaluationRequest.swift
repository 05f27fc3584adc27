package import KeychainModel

/// What a person is to prove.
package struct EvaluationRequest: Hashable, Sendable {
    /// What is asked for.
    package var requirement: Requirement

    /// What counts as proved already, such as by a context; it is not asked for again.
    package var proved: FactorSet

    /// Whether a person may be asked, as far as the caller is concerned.
    package var isInteractionAllowed: Bool

    /// Who asks for what, and why: for the system's own dialog, which has no other words of ours.
    package var message: String

    /// Puts a request together.
    package init(
        _ requirement: Requirement,
        proved: FactorSet = [],
        isInteractionAllowed: Bool = true,
        message: String
    ) {
        self.requirement = requirement
        self.proved = proved
        self.isInteractionAllowed = isInteractionAllowed
        self.message = message
    }
}
