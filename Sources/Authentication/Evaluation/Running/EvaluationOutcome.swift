/// How an evaluation ended.
package enum EvaluationOutcome: Hashable, Sendable {
    /// The policy is satisfied: by what was known before, and by these proofs of now.
    ///
    /// Their keys are in the hands of those who verified the passwords.
    case satisfied(Proofs)

    /// It is not.
    case failed(AuthenticationError)
}
