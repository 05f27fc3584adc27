/// What has to be proved, in normal form: one alternative, all of whose factors are needed, or another.
///
/// The form is minimal: no alternative is satisfied whenever another one is. So two policies are equal exactly when the same
/// proofs satisfy them, however their access controls were written. Four factors leave room for very few alternatives.
package struct Policy: Hashable, Sendable {
    /// The ways to satisfy it, each of which suffices; never empty, and none of them is empty.
    package let alternatives: [FactorSet]

    /// Asks for one factor.
    package init(_ factor: Factor) {
        alternatives = [FactorSet(factor)]
    }

    private init(normalizing candidates: [FactorSet]) {
        let reduced = Set(candidates.map(\.reduced))
        alternatives =
            reduced
            .filter { candidate in
                !reduced.contains { other in other != candidate && other.implied.isSubset(of: candidate.implied) }
            }
            .sorted { $0.rawValue < $1.rawValue }
    }

    /// What asks for both this and another.
    package func and(_ other: Policy) -> Policy {
        Policy(
            normalizing: alternatives.flatMap { first in
                other.alternatives.map { second in first.union(second) }
            }
        )
    }

    /// What asks for this or another, whichever is easier.
    package func or(_ other: Policy) -> Policy {
        Policy(normalizing: alternatives + other.alternatives)
    }

    /// Whether these proofs suffice.
    package func isSatisfied(by factors: FactorSet) -> Bool {
        alternatives.contains { $0.isSubset(of: factors.implied) }
    }

    /// What is still to be proved after these proofs; nil if they suffice.
    package func remaining(after factors: FactorSet) -> Policy? {
        guard !isSatisfied(by: factors) else { return nil }
        return Policy(normalizing: alternatives.map { $0.subtracting(factors.implied) })
    }

    /// All factors that occur.
    package var factors: FactorSet {
        alternatives.reduce(into: []) { $0.formUnion($1) }
    }

    /// What of each alternative gives key material; nil if some alternative gives none, so that only the daemon can enforce it.
    ///
    /// An item with such a policy can be sealed under a key that is wrapped once for each element: to the passcode, to the
    /// application password, or to both together. Minimal, like ``alternatives``: where the passcode suffices in one, a key
    /// wrapped to passcode and application password would add nothing.
    package var keyAlternatives: [FactorSet]? {
        let keys = Set(alternatives.map { $0.intersection(.keys) })
        guard !keys.contains([]) else { return nil }
        return
            keys
            .filter { key in !keys.contains { $0.isStrictSubset(of: key) } }
            .sorted { $0.rawValue < $1.rawValue }
    }
}
