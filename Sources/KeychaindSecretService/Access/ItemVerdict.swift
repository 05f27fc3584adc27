import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// The access of a client to an item.
enum ItemVerdict {
    /// The item is unprotected.
    case open
    /// The client may read it while the grant lasts.
    case granted(ItemGrant)
    /// The client must satisfy a policy first.
    case needsAuthentication(Policy)
    /// A rule asks a person first.
    case needsConfirmation
    /// Nobody may read it, whatever they prove.
    case unavailable(Obstacle)

    /// The reason why an item is unavailable.
    enum Obstacle: Hashable {
        case collectionLocked
        case sessionLocked
        /// The stored data is damaged, or the protection is unknown.
        case unreadable(reason: String)
        /// A rule forbids it.
        case forbidden
    }

    /// Whether the client sees the item as locked.
    var isLocked: Bool {
        switch self {
        case .open, .granted: false
        case .needsAuthentication, .needsConfirmation, .unavailable: true
        }
    }
}

extension ItemVerdict.Obstacle: CustomStringConvertible {
    var description: String {
        switch self {
        case .collectionLocked: "the collection is locked"
        case .sessionLocked: "the item is not available while the session is locked"
        case .unreadable(let reason): "the item cannot be read: \(reason)"
        case .forbidden: "a rule forbids this program the item"
        }
    }
}

/// Temporary permission of a client to read an item.
final class ItemGrant {
    /// The key of a sealed item, wiped with its last reference.
    let key: ItemKey?

    /// The caller, as stored in the audit.
    let caller: String

    /// Whether a rule stands in for the item's access control; such a grant ends with the rule.
    let isByRule: Bool

    init(to caller: String, key: ItemKey?) {
        self.caller = caller
        self.key = key
        isByRule = false
    }

    init(byRuleTo caller: String) {
        self.caller = caller
        key = nil
        isByRule = true
    }
}

extension Collection {
    /// Opens the secret of an item, with the key of a grant if it is sealed; nil if it must be read from disk.
    func secret(of id: ItemID, under grant: ItemGrant?) throws(VaultError) -> Secret? {
        guard let key = grant?.key else { return try secret(of: id) }
        return try secret(of: id, with: key)
    }
}

extension BusError {
    /// The error of a call that an obstacle stops.
    init(_ obstacle: ItemVerdict.Obstacle) {
        self.init(obstacle == .forbidden ? .accessDenied : .isLocked, "\(obstacle)")
    }
}
