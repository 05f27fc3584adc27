package import KeychaindModel

/// An item without its secret.
package struct Item: Equatable, Sendable {
    package enum Condition: Equatable, Sendable {
        /// The label, attributes and times are authentic. The secret is checked when it is opened.
        case intact

        /// The collection has not been unlocked since the start; only the ID is known.
        case unread

        /// Authentication failed. The item is left as it is.
        case damaged(reason: String)
    }

    package let id: ItemID

    /// The display name; empty when it cannot be read.
    package let label: String

    /// The lookup attributes; empty when they cannot be read.
    package let attributes: Attributes

    /// The creation time; the epoch when it cannot be read.
    package let created: Timestamp

    /// The modification time; the epoch when it cannot be read.
    package let modified: Timestamp

    package let condition: Condition

    package static func deleted(_ id: ItemID) -> Item {
        let epoch = Timestamp(microsecondsSinceEpoch: 0)
        return Item(
            id: id,
            label: "",
            attributes: Attributes(),
            created: epoch,
            modified: epoch,
            condition: .damaged(reason: "it was deleted")
        )
    }
}

/// A revision of an item; a decision about the item holds for one revision only.
package struct ItemRevision: Hashable, Sendable {
    package let item: ItemID
    let number: UInt64
    let secret: UInt64
}

extension Collection {
    package func revision(of id: ItemID) -> ItemRevision? {
        isDeleted ? nil : table.revision(of: id)
    }

    package func hasSecret(of revision: ItemRevision) -> Bool {
        self.revision(of: revision.item)?.secret == revision.secret
    }
}

/// The outcome of storing an item.
package enum ItemCreation: Equatable, Sendable {
    case created(ItemID)

    /// Changed (#94, #95).
    case replaced(ItemID)

    package var id: ItemID {
        switch self {
        case .created(let id), .replaced(let id): id
        }
    }
}

/// The times that a new item has from elsewhere; nil for the time of the write.
package struct CopiedTimes: Equatable, Sendable {
    package var created: Timestamp?
    package var modified: Timestamp?

    package init(created: Timestamp? = nil, modified: Timestamp? = nil) {
        self.created = created
        self.modified = modified
    }

    /// Never later than the write, so that no item stays the newest one.
    func created(at now: Timestamp) -> Timestamp { created.map { min($0, now) } ?? now }

    func modified(at now: Timestamp) -> Timestamp { modified.map { min($0, now) } ?? now }
}
