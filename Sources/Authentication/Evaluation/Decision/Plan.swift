package import KeychainModel

/// How a person can prove what is still to be proved.
package enum Plan: Hashable, Sendable {
    /// By the system's own dialog, which stands for user presence.
    case systemDialog

    /// In a dialog of a prompter: all factors of one alternative. Never empty, and no alternative is.
    case dialog([FactorSet])

    /// Whether a finger is of use.
    package var wantsTouch: Bool {
        alternatives.contains { !$0.isDisjoint(with: .biometry) }
    }

    /// Whether a finger can be enough by itself.
    package var touchSuffices: Bool {
        alternatives.contains { $0.isSubset(of: .biometry) }
    }

    /// The passwords of which one can be typed next.
    ///
    /// Where an alternative wants both, the passcode comes first: the key that it gives may be needed to try the other.
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
