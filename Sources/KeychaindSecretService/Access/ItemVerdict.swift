import KeychaindDBus
import KeychaindModel

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
    /// No proof opens it.
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

extension BusError {
    /// The error of a call that an obstacle stops.
    init(_ obstacle: ItemVerdict.Obstacle) {
        self.init(obstacle == .forbidden ? .accessDenied : .isLocked, "\(obstacle)")
    }
}
