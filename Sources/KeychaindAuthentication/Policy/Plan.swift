package import KeychaindModel

/// The ways to prove the missing factors.
package enum Plan: Hashable, Sendable {
    /// The system dialog, which proves user presence.
    case systemDialog

    /// A prompter's dialog, for all factors of one alternative; no list is empty.
    case dialog([FactorSet])

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

    private var alternatives: [FactorSet] {
        switch self {
        case .systemDialog: []
        case .dialog(let alternatives): alternatives
        }
    }
}
