/// The required proofs in normal form: a disjunction of factor sets, each of which must be proved as a whole.
///
/// Minimal, as no alternative implies another: policies are equal exactly if the same proofs satisfy them.
/// With four factors there are very few alternatives.
package struct Policy: Hashable, Sendable {
    /// The alternatives, any of which suffices; neither the array nor any element is empty.
    package let alternatives: [FactorSet]

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

    package func and(_ other: Policy) -> Policy {
        Policy(
            normalizing: alternatives.flatMap { first in
                other.alternatives.map { second in first.union(second) }
            }
        )
    }

    package func or(_ other: Policy) -> Policy {
        Policy(normalizing: alternatives + other.alternatives)
    }

    package func isSatisfied(by factors: FactorSet) -> Bool {
        alternatives.contains { $0.isSubset(of: factors.implied) }
    }

    /// The policy that remains after proving some factors; nil if they suffice.
    package func remaining(after factors: FactorSet) -> Policy? {
        guard !isSatisfied(by: factors) else { return nil }
        return Policy(normalizing: alternatives.map { $0.subtracting(factors.implied) })
    }

    package var factors: FactorSet {
        alternatives.reduce(into: []) { $0.formUnion($1) }
    }

    /// The factors with key material of each alternative; nil if one has none, so that only the daemon can enforce it.
    ///
    /// The item key is wrapped once per element. Minimal like ``alternatives``: where the passcode suffices, a key
    /// wrapped to both passcode and application password adds nothing.
    package var keyAlternatives: [FactorSet]? {
        let keys = Set(alternatives.map { $0.intersection(.keys) })
        guard !keys.contains([]) else { return nil }
        return
            keys
            .filter { key in !keys.contains { $0.isStrictSubset(of: key) } }
            .sorted { $0.rawValue < $1.rawValue }
    }
}
