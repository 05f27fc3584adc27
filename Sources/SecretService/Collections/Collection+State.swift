import KeychainModel
import Vault

extension Collection {
    /// Whether callers have to unlock it first; also while its key is being derived.
    var isLocked: Bool {
        if case .unlocked = state { false } else { true }
    }

    /// Whether calls wait for its key, which is being derived.
    ///
    /// Nothing can be asked yet of a collection that is being created, except of `login`, which is expected from the start.
    var isAwaited: Bool {
        guard case .unlocking = state else { return false }
        return !isBeingMade || name == .login
    }

    /// Whether it waits for its first password.
    var isVacant: Bool {
        if case .vacant = state { true } else { false }
    }

    /// The number of protected items, as far as is known.
    var protectedItemCount: Int {
        guard hasProtectedItems else { return 0 }
        return itemIDs.count { protection(of: $0).needsAuthentication }
    }
}
