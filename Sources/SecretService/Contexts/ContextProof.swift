import Authentication
import KeychainModel
import Vault

/// What a person has proved in a context, with the key that came of it.
struct ContextProof {
    private let factors: FactorSet
    private let matchedSet: BiometrySet?

    /// What opens the items that are sealed to the passcode; nil if that was not given.
    ///
    /// It is wiped with the last reference.
    let passcode: PasscodeKey?

    init(factors: FactorSet, matchedSet: BiometrySet? = nil, passcode: PasscodeKey? = nil) {
        self.factors = factors
        self.matchedSet = matchedSet
        self.passcode = factors.contains(.passcode) ? passcode : nil
    }

    /// Whether it satisfies what an item asks for.
    func satisfies(_ requirement: Requirement) -> Bool {
        let proofs = Proofs(factors: factors, keys: passcode == nil ? [] : .passcode, matchedSet: matchedSet)
        return requirement.policy?.isSatisfied(by: proofs.counting(for: requirement)) ?? true
    }
}
