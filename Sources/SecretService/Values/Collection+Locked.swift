import KeychainModel
import Vault

extension Collection {
    /// Whether callers have to unlock it first; so they do while its key is being derived.
    var isLocked: Bool {
        if case .unlocked = state { false } else { true }
    }

    var isUnlocking: Bool {
        if case .unlocking = state { true } else { false }
    }

    /// Whether it is only a name yet, and waits for its first password.
    var isVacant: Bool {
        if case .vacant = state { true } else { false }
    }
}
