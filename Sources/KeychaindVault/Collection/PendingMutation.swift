import KeychaindGcrypt
package import KeychaindModel

/// A requested change and its waiting caller.
final class PendingMutation {
    enum Request {
        case create(NewItem)
        case update(ItemID, PendingUpdate)

        /// The deletion of items, all or none.
        case delete([ItemDeletion])
        case rename(String)

        /// No change, but a turn in which no other is written.
        case alone
    }

    enum Resumption: Sendable {
        /// The caller writes the next batch, starting with its own change.
        case lead

        /// The change was written in another caller's batch, or failed.
        case settled(Result<ChangeOutcome, VaultError>)
    }

    let request: Request
    var owner = WorkOwner.current
    var continuation: CheckedContinuation<Resumption, Never>?

    init(_ request: Request) {
        self.request = request
    }

    /// The bytes of the signals of a further deletion.
    private static let toldBytesOfDeletion = 1 << 10

    /// How many changes of a batch it counts as.
    var size: Int {
        switch request {
        case .create, .update, .rename, .alone: 1
        case .delete(let deletions): deletions.count
        }
    }

    var secretBytes: Int {
        switch request {
        case .create(let item): item.secret.byteCount
        case .update(_, let update): update.secret?.byteCount ?? 0
        case .delete, .rename, .alone: 0
        }
    }

    /// The bytes of the signals of the change, besides what each change takes.
    func toldBytes(in table: borrowing ItemTable) -> Int {
        switch request {
        case .create(let item): return item.label.utf8.count + item.attributes.packed.count
        case .update(let id, let update):
            let label = update.label?.utf8.count ?? 0
            switch update.attributes {
            case .none: return label
            case .all(let attributes): return label + attributes.packed.count
            case .one(_, let value):
                // The signals carry all attributes.
                return label + (value?.utf8.count ?? 0) + (table[id]?.metadata.attributes.packed.count ?? 0)
            }
        case .delete(let deletions): return deletions.dropFirst().count * Self.toldBytesOfDeletion
        case .rename(let label): return label.utf8.count
        case .alone: return 0
        }
    }
}

/// The effect of a change.
package enum ChangeOutcome: Sendable {
    case item(ItemCreation)
    case done
}

/// The secret of a change, with the key to seal it under.
enum NewSecret {
    case ordinary(SecretReference)
    case underNewKey(SecretReference, NewItemKey)
    case underKey(SecretReference, ItemKey)

    var byteCount: Int { secret.secret.bytes.count }

    var secret: SecretReference {
        switch self {
        case .ordinary(let secret), .underNewKey(let secret, _), .underKey(let secret, _): secret
        }
    }
}

/// The arguments of a creation.
struct NewItem {
    var label: String
    var attributes: Attributes

    /// What the attributes state.
    var protection: ItemProtection
    var secret: NewSecret

    var times: CopiedTimes

    /// Whether to change the newest item with equal attributes instead.
    var isReplacing: Bool

    /// The attributes of that item, such as a stamp; none for any item.
    var replacedAttributes = Attributes()

    /// The items that are not changed instead.
    var keptItems: Set<ItemID> = []

    /// The protected item that the caller was authenticated to replace.
    var authenticated: ItemID?

    /// The revision that the authentication was for; nil for any.
    var revision: ItemRevision?

    /// Whether a sandboxed program asks for it, whose quota it needs.
    var isSandboxed = false

    func update(of id: ItemID) -> PendingUpdate {
        var update = PendingUpdate(label: label, attributes: .all(attributes), secret: secret, isAuthenticated: false)
        update.isSandboxed = isSandboxed
        // A program cannot choose the times of a protected item.
        if authenticated == nil { update.times = times }
        if authenticated == id {
            update.isAuthenticated = true
            update.revision = revision
        }
        return update
    }
}

/// The changes of an existing item.
struct PendingUpdate {
    enum AttributeChange {
        case none
        case all(Attributes)

        /// One attribute set, or removed when the value is nil; the others keep their value at the time of the write.
        case one(String, String?)
    }

    var label: String?

    var attributes = AttributeChange.none

    var secret: NewSecret?

    var times = CopiedTimes()

    var isAuthenticated: Bool

    /// The revision that the authentication was for; nil for any.
    var revision: ItemRevision?

    var basis: Basis?

    /// Whether a sandboxed program asks for it, which needs the quota of the item's program for what grows.
    var isSandboxed = false

    /// The state that a change of a protected item or of a protection is based on.
    struct Basis: Equatable {
        var protection: ItemProtection
        var wraps: ItemKeyWraps?

        /// The revision of the secret, if the change uses it.
        var secretRevision: UInt64?
    }
}

/// The deletion of one item.
package struct ItemDeletion: Sendable {
    let id: ItemID

    let isAuthenticated: Bool

    /// The revision that the authentication was for; nil for any.
    let revision: ItemRevision?

    package init(of id: ItemID, authenticated isAuthenticated: Bool = false, at revision: ItemRevision? = nil) {
        self.id = id
        self.isAuthenticated = isAuthenticated
        self.revision = revision
    }
}
