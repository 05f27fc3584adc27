/// A set of authentication factors, proved together.
package struct FactorSet: OptionSet, Hashable, Sendable {
    /// A bit for each factor, at the position of its raw value.
    package let rawValue: UInt8

    package static let biometryAny = FactorSet(.biometryAny)

    package static let biometryCurrentSet = FactorSet(.biometryCurrentSet)

    package static let passcode = FactorSet(.passcode)

    package static let applicationPassword = FactorSet(.applicationPassword)

    package static let biometry: FactorSet = [.biometryAny, .biometryCurrentSet]

    /// The factors that yield key material.
    package static let keys: FactorSet = [.passcode, .applicationPassword]

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package init(_ factor: Factor) {
        rawValue = 1 << factor.rawValue
    }

    /// In order of declaration.
    package var factors: [Factor] {
        Factor.allCases.filter { contains(FactorSet($0)) }
    }

    /// The set with implied factors: a match with the unchanged set is also a match with any enrolled finger.
    package var implied: FactorSet {
        contains(.biometryCurrentSet) ? union(.biometryAny) : self
    }

    /// The set without factors that others imply.
    package var reduced: FactorSet {
        contains(.biometryCurrentSet) ? subtracting(.biometryAny) : self
    }
}

package enum Factor: UInt8, CaseIterable, Hashable, Sendable {
    /// A match with any enrolled finger.
    case biometryAny

    /// A match while the enrolled set is as it was when the item was stored.
    case biometryCurrentSet

    /// The password of the login collection, typed by a person.
    case passcode

    /// Typed by a person.
    case applicationPassword
}
