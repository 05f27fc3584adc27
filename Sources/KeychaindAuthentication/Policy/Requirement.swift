package import KeychaindModel

/// A policy to satisfy, of an item or a program.
///
/// One answer serves all equal requirements, unless they have application passwords.
package struct Requirement: Hashable, Sendable {
    /// The policy; nil if nothing must be proved.
    package let policy: Policy?

    /// The enrolled set when the item was stored; nil unless the policy is bound to it.
    package let boundSet: BiometrySet?

    package init(policy: Policy?, boundSet: BiometrySet? = nil) {
        self.policy = policy
        self.boundSet = boundSet
    }
}

/// The factors that an evaluation has proved.
package struct Proofs: Hashable, Sendable {
    package let factors: FactorSet

    /// The proved factors with an available key; where a key is needed, no other factor counts.
    package let keys: FactorSet

    /// The enrolled set at the time of a match.
    package let matchedSet: BiometrySet?

    package init(factors: FactorSet, keys: FactorSet = [], matchedSet: BiometrySet? = nil) {
        self.factors = factors
        self.keys = keys.intersection(factors)
        self.matchedSet = matchedSet
    }

    package static let none = Proofs(factors: [])

    package func counting(for requirement: Requirement) -> FactorSet {
        var counting = factors
        if requirement.policy?.keyAlternatives != nil {
            counting.subtract(FactorSet.keys.subtracting(keys))
        }
        if factors.isDisjoint(with: .biometry) { return counting }
        // Only the hash shows whether the matched set is the item's set.
        let isBoundSet = matchedSet != nil && matchedSet == requirement.boundSet
        return counting.subtracting(.biometry).union(isBoundSet ? .biometry : .biometryAny)
    }
}
