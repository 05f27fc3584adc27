package import KeychaindModel

/// The ways to prove the missing factors: a dialog asks for all factors of one alternative.
package struct ProofPlan: Hashable, Sendable {
    /// Neither the list nor a set in it is empty.
    package let alternatives: [FactorSet]

    package init(_ alternatives: [FactorSet]) {
        self.alternatives = alternatives
    }

    package var wantsTouch: Bool {
        alternatives.contains { !$0.isDisjoint(with: .biometry) }
    }

    package var touchSuffices: Bool {
        alternatives.contains { $0.isSubset(of: .biometry) }
    }

    /// The passwords, any of which can be typed next.
    ///
    /// If an alternative needs both, the passcode comes first, as the other may need its key.
    package var typedNext: FactorSet {
        alternatives.reduce(into: []) { typed, alternative in
            if alternative.contains(.passcode) {
                typed.insert(.passcode)
            } else if alternative.contains(.applicationPassword) {
                typed.insert(.applicationPassword)
            }
        }
    }
}
