import Gcrypt
import KeychainModel

/// A new secret, and what it is to be sealed under beside the collection's key.
enum NewSecret {
    /// Nothing more.
    case ordinary(SharedSecret)

    /// A new key, which will be the item's.
    case underNewKey(SharedSecret, NewItemKey)

    /// The key that the item has.
    case underKey(SharedSecret, ItemKey)

    /// How long the secret is, in bytes.
    var byteCount: Int { secret.secret.bytes.count }

    /// The secret.
    var secret: SharedSecret {
        switch self {
        case .ordinary(let secret), .underNewKey(let secret, _), .underKey(let secret, _): secret
        }
    }
}

/// An item that is to be made, or to take the place of one.
struct NewItem {
    var label: String
    var attributes: Attributes
    var secret: NewSecret

    /// Whether the newest item with equal attributes is changed instead, if there is one.
    var isReplacing: Bool

    /// The protected item that may be replaced: the caller has been authenticated for it.
    var authenticated: ItemID?

    /// The state of it which that was for; nil for any.
    var revision: ItemRevision?

    /// The same as a change of an item.
    func update(of id: ItemID) -> ItemUpdate {
        var update = ItemUpdate(label: label, attributes: .all(attributes), secret: secret, isAuthenticated: false)
        if authenticated == id {
            update.isAuthenticated = true
            update.revision = revision
        }
        return update
    }
}

/// What is to be changed of an item.
struct ItemUpdate {
    /// What is to become of the attributes.
    enum AttributeChange {
        /// They stay.
        case none

        /// These take their place.
        case all(Attributes)

        /// One is set, or with nil removed; the others are what they are when the change is written.
        case one(String, String?)
    }

    /// Another label; nil keeps it.
    var label: String?

    var attributes = AttributeChange.none

    /// Another secret; nil keeps it.
    var secret: NewSecret?

    /// Whether the caller has been authenticated for the item.
    var isAuthenticated: Bool

    /// The state of the item which the caller has been authenticated for; nil for any.
    var revision: ItemRevision?

    /// What the item was when the change was worked out; nil when that does not matter.
    var basis: Basis?

    /// What a change of a protected item or of a protection was worked out from.
    struct Basis: Equatable {
        /// What the item said about who may have it.
        var protection: ItemProtection

        /// The ways to its key.
        var wraps: ItemKeyWraps?

        /// The revision of the secret, if it was read for the change.
        var secretRevision: UInt64?
    }
}
