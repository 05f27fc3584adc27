package import KeychainModel

/// A policy to satisfy, of an item or of a program.
///
/// One answer serves all items with equal requirements, unless they have application passwords.
package struct Requirement: Hashable, Sendable {
    /// The policy; nil if nothing must be proved.
    package let policy: Policy?

    /// The enrolled set at the time the item was stored; nil unless the policy is bound to it.
    package let boundSet: BiometrySet?

    /// Creates a requirement.
    package init(policy: Policy?, boundSet: BiometrySet? = nil) {
        self.policy = policy
        self.boundSet = boundSet
    }
}

/// The factors that an evaluation has proved, as a context keeps them.
package struct Proofs: Hashable, Sendable {
    /// The proved factors.
    package let factors: FactorSet

    /// The proved factors whose keys are available; without its key, a factor does not count where the key is needed.
    package let keys: FactorSet

    /// The enrolled set at the time of a match; nil if there was none.
    package let matchedSet: BiometrySet?

    /// Creates proofs.
    package init(factors: FactorSet, keys: FactorSet = [], matchedSet: BiometrySet? = nil) {
        self.factors = factors
        self.keys = keys.intersection(factors)
        self.matchedSet = matchedSet
    }

    /// No proofs.
    package static let none = Proofs(factors: [])

    /// The factors that count for a requirement.
    package func counting(for requirement: Requirement) -> FactorSet {
        var counting = factors
        if requirement.policy?.keyAlternatives != nil {
            counting.subtract(FactorSet.keys.subtracting(keys))
        }
        if factors.isDisjoint(with: .biometry) { return counting }
        // Any match is one with the enrolled set at that time; only the hash shows whether that is the set of the item.
        let isBoundSet = matchedSet != nil && matchedSet == requirement.boundSet
        return counting.subtracting(.biometry).union(isBoundSet ? .biometry : .biometryAny)
    }
}
