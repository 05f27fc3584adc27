package import KeychainModel

/// What an evaluation has proved, as a context keeps it for later.
package struct Proofs: Hashable, Sendable {
    /// The factors that were proved.
    package let factors: FactorSet

    /// Those of them whose key material is at hand; without it a proof is worth nothing where a key is needed.
    package let keys: FactorSet

    /// The fingers that were enrolled when one of them matched; nil if none did.
    package let matchedSet: BiometrySet?

    /// Puts proofs together.
    package init(factors: FactorSet, keys: FactorSet = [], matchedSet: BiometrySet? = nil) {
        self.factors = factors
        self.keys = keys.intersection(factors)
        self.matchedSet = matchedSet
    }

    /// Nothing proved.
    package static let none = Proofs(factors: [])

    /// What of it counts for a requirement.
    package func counting(for requirement: Requirement) -> FactorSet {
        var counting = factors
        if requirement.policy?.keyAlternatives != nil {
            counting.subtract(FactorSet.keys.subtracting(keys))
        }
        if factors.isDisjoint(with: .biometry) { return counting }
        // Any match is one with the set of its moment; whether that is the item's, only the hash tells.
        let isBoundSet = matchedSet != nil && matchedSet == requirement.boundSet
        return counting.subtracting(.biometry).union(isBoundSet ? .biometry : .biometryAny)
    }
}
