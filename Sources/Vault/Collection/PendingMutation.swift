import Gcrypt
import KeychainModel

/// A requested change and its waiting caller.
final class PendingMutation {
    enum Request {
        /// A new item, or the replacement of one with equal attributes.
        case create(NewItem)
        case update(ItemID, ItemUpdate)

        /// The deletion of an item, with the caller's authentication and the revision it was for.
        case delete(ItemID, authenticated: Bool, at: ItemRevision?)
        case rename(String)
    }

    /// The reason why a waiting caller resumes.
    enum Resumption: Sendable {
        /// The caller writes the next batch, starting with its own change.
        case lead

        /// The change was written in another caller's batch, or failed.
        case settled(Result<Outcome, VaultError>)
    }

    enum Outcome: Sendable {
        /// The item was created or replaced.
        case item(ItemCreation)
        case done
    }

    let request: Request
    var continuation: CheckedContinuation<Resumption, Never>?

    init(_ request: Request) {
        self.request = request
    }

    var secretBytes: Int {
        switch request {
        case .create(let item): item.secret.byteCount
        case .update(_, let update): update.secret?.byteCount ?? 0
        case .delete, .rename: 0
        }
    }
}

/// A new secret and its key material beside the secrets key.
enum NewSecret {
    case ordinary(SharedSecret)
    case underNewKey(SharedSecret, NewItemKey)
    case underKey(SharedSecret, ItemKey)

    var byteCount: Int { secret.secret.bytes.count }

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

struct ItemUpdate {
    enum AttributeChange {
        case none
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
        var protection: ItemProtection
        var wraps: ItemKeyWraps?

        /// The revision of the secret, if the change uses it.
        var secretRevision: UInt64?
    }
}
