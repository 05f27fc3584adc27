import KeychainModel
import Vault

extension Collection {
    /// Whether callers have to unlock it first; so they do while its key is being derived.
    var isLocked: Bool {
        if case .unlocked = state { false } else { true }
    }

    /// Whether calls wait for it, because its key is being derived.
    ///
    /// One that is being made has nothing yet to be asked for; only `login` is expected to be there from the start.
    var isAwaited: Bool {
        guard case .unlocking = state else { return false }
        return !isBeingMade || name == .login
    }

    /// Whether it is only a name yet, and waits for its first password.
    var isVacant: Bool {
        if case .vacant = state { true } else { false }
    }
}
