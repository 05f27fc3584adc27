import KeychaindModel
import KeychaindVault

extension Collection {
    /// Whether the collection must be unlocked first; true while its key is being derived.
    var isLocked: Bool {
        if case .unlocked = state { false } else { true }
    }

    /// Whether calls wait for the key, which is being derived, or for that of `login`, which opens this one, too.
    ///
    /// Calls do not wait for a collection under creation, except for `login`, which is expected from the start.
    var isAwaited: Bool {
        guard case .unlocking = state else { return awaitedLogin != nil }
        return !isBeingMade || name == .login
    }

    /// Whether the collection waits for its first password.
    var isVacant: Bool {
        if case .vacant = state { true } else { false }
    }

    /// Whether no key can open it, as its file is damaged or missing.
    var isUnreadable: Bool {
        if case .unreadable = state { true } else { false }
    }

    /// The known number of protected items.
    var protectedItemCount: Int {
        guard hasProtectedItems else { return 0 }
        return itemIDs.count { protection(of: $0).needsAuthentication }
    }
}
