import Gcrypt
import KeychainModel

/// A new secret and its key material beside the secrets key.
enum NewSecret {
    /// None.
    case ordinary(SharedSecret)

    /// A new item key.
    case underNewKey(SharedSecret, NewItemKey)

    /// The existing item key.
    case underKey(SharedSecret, ItemKey)

    /// The size of the secret in bytes.
    var byteCount: Int { secret.secret.bytes.count }

    /// The secret.
    var secret: SharedSecret {
        switch self {
        case .ordinary(let secret), .underNewKey(let secret, _), .underKey(let secret, _): secret
        }
    }
}

/// A new item, or the replacement of one.
struct NewItem {
    var label: String
    var attributes: Attributes
    var secret: NewSecret

    /// Whether to change the newest item with equal attributes instead.
    var isReplacing: Bool

    /// The protected item that the caller was authenticated to replace.
    var authenticated: ItemID?

    /// The revision that the authentication was for; nil for any.
    var revision: ItemRevision?

    /// Returns the equivalent change of an existing item.
    func update(of id: ItemID) -> ItemUpdate {
        var update = ItemUpdate(label: label, attributes: .all(attributes), secret: secret, isAuthenticated: false)
        if authenticated == id {
            update.isAuthenticated = true
            update.revision = revision
        }
        return update
    }
}

/// A change of an item.
struct ItemUpdate {
    /// A change of the attributes.
    enum AttributeChange {
        /// No change.
        case none

        /// New attributes.
        case all(Attributes)

        /// One attribute set, or removed when the value is nil; the others keep their value at the time of the write.
        case one(String, String?)
    }

    /// The new label; nil keeps the old one.
    var label: String?

    var attributes = AttributeChange.none

    /// The new secret; nil keeps the old one.
    var secret: NewSecret?

    /// Whether the caller was authenticated for the item.
    var isAuthenticated: Bool

    /// The revision that the authentication was for; nil for any.
    var revision: ItemRevision?

    /// The state that the change is based on; nil when it does not matter.
    var basis: Basis?

    /// The state that a change of a protected item or of a protection is based on.
    struct Basis: Equatable {
        /// The protection of the item.
        var protection: ItemProtection

        /// The wrapped item key.
        var wraps: ItemKeyWraps?

        /// The revision of the secret, if the change uses it.
        var secretRevision: UInt64?
    }
}
