/// Factors that are proved together.
package struct FactorSet: OptionSet, Hashable, Sendable {
    /// A bit for each factor, at the position of its raw value.
    package let rawValue: UInt8

    /// A match with any enrolled finger.
    package static let biometryAny = FactorSet(.biometryAny)

    /// A match, while the set of enrolled fingers is what it was.
    package static let biometryCurrentSet = FactorSet(.biometryCurrentSet)

    /// The passcode.
    package static let passcode = FactorSet(.passcode)

    /// The item's own password.
    package static let applicationPassword = FactorSet(.applicationPassword)

    /// Either factor that a finger proves.
    package static let biometry: FactorSet = [.biometryAny, .biometryCurrentSet]

    /// The factors that give key material, and not only a yes or no.
    package static let keys: FactorSet = [.passcode, .applicationPassword]

    /// Takes bits as they are.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Makes the set of one factor.
    package init(_ factor: Factor) {
        rawValue = 1 << factor.rawValue
    }

    /// The factors, in the order in which they are declared.
    package var factors: [Factor] {
        Factor.allCases.filter { contains(FactorSet($0)) }
    }

    /// These and what they imply: a match with the set as it was is a match with an enrolled finger.
    package var implied: FactorSet {
        contains(.biometryCurrentSet) ? union(.biometryAny) : self
    }

    /// These without what the others imply anyway.
    package var reduced: FactorSet {
        contains(.biometryCurrentSet) ? subtracting(.biometryAny) : self
    }
}
