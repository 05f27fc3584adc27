import KeychainModel
import Vault

/// Whether a caller may have an item at this moment.
enum ItemVerdict {
    /// Whoever calls may: nothing protects it.
    case open
    /// This caller may, for as long as the grant lasts.
    case granted(ItemGrant)
    /// This caller has to satisfy a policy first.
    case needsAuthentication(Policy)
    /// Nobody may now, whatever they prove.
    case unavailable(Obstacle)

    /// What keeps everybody from an item.
    enum Obstacle: Hashable {
        case collectionLocked
        case sessionLocked
        /// What is stored is not what was written, or its protection is not understood; says how.
        case unreadable(reason: String)
    }

    /// Whether the caller is told that the item is locked.
    var isLocked: Bool {
        switch self {
        case .open, .granted: false
        case .needsAuthentication, .unavailable: true
        }
    }
}

extension ItemVerdict.Obstacle: CustomStringConvertible {
    /// What a caller is told.
    var description: String {
        switch self {
        case .collectionLocked: "the collection is locked"
        case .sessionLocked: "the item cannot be had while the session is locked"
        case .unreadable(let reason): "the item cannot be read: \(reason)"
        }
    }
}

/// A caller's permission for an item, for a while.
final class ItemGrant {
    /// What opens it, if it is sealed; wiped with the last reference.
    let key: ItemKey?

    /// Who has it, as the audit names them.
    let caller: String

    init(to caller: String, key: ItemKey?) {
        self.caller = caller
        self.key = key
    }
}

extension Collection {
    /// Opens the secret of an item, by the key of a grant if it is sealed; nil if it has to be read first.
    func secret(of id: ItemID, under grant: ItemGrant?) throws(VaultError) -> Secret? {
        guard let key = grant?.key else { return try secret(of: id) }
        return try secret(of: id, with: key)
    }
}
