import KeychainModel

/// A change of one item, decided on and not yet written.
enum RowChange: Sendable {
    /// A new item.
    case insert(ItemRow)

    /// An item that takes the place of what it was at an earlier revision.
    case update(ItemRow, from: UInt64)

    /// An item that goes, with the revision that it had.
    case delete(ItemID, from: UInt64)

    /// The item that is changed.
    var id: ItemID {
        switch self {
        case .insert(let row), .update(let row, _): row.id
        case .delete(let id, _): id
        }
    }
}

/// An item as it will be after a change.
struct ItemRow: Sendable {
    /// The number of the item.
    let id: ItemID

    /// The revision of the change: each change of a collection has the next number.
    let revision: UInt64

    /// The label, attributes and times.
    let metadata: ItemMetadata

    /// The blind tags of the attributes, rising.
    let tags: [UInt64]

    /// The new secret; nil when it stays as it is.
    let secret: SharedSecret?

    /// The key of the item, when the new secret is sealed under one.
    let key: ItemKey?
}

/// What is written in one transaction.
struct CollectionChange: Sendable {
    /// The changes of items, each item once.
    var rows: [RowChange] = []

    /// The state of the collection after them, without the hash, which the writer keeps.
    var state: CollectionState
}
