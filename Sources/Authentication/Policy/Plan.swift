package import KeychainModel

/// The ways in which a person can prove the missing factors.
package enum Plan: Hashable, Sendable {
    /// The dialog of the system, which proves user presence.
    case systemDialog

    /// A dialog of a prompter, for all factors of one alternative. Neither the list nor an alternative is empty.
    case dialog([FactorSet])

    /// Whether a touch is part of an alternative.
    package var wantsTouch: Bool {
        alternatives.contains { !$0.isDisjoint(with: .biometry) }
    }

    /// Whether a touch alone can be enough.
    package var touchSuffices: Bool {
        alternatives.contains { $0.isSubset(of: .biometry) }
    }

    /// The passwords of which one can be typed next.
    ///
    /// If an alternative needs both, the passcode comes first, as its key may be needed to try the other.
    package var typedNext: FactorSet {
        alternatives.reduce(into: []) { typed, alternative in
            if alternative.contains(.passcode) {
                typed.insert(.passcode)
            } else if alternative.contains(.applicationPassword) {
                typed.insert(.applicationPassword)
            }
        }
    }

    private var alternatives: [FactorSet] {
        switch self {
        case .systemDialog: []
        case .dialog(let alternatives): alternatives
        }
    }
}
