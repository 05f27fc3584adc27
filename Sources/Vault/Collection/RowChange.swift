import KeychainModel

/// A change of one row, to be written.
enum RowChange: Sendable {
    /// A new item.
    case insert(ItemRow)

    /// A changed item, with its previous revision.
    case update(ItemRow, from: UInt64)

    /// A deleted item, with its last revision.
    case delete(ItemID, from: UInt64)

    /// The ID of the item.
    var id: ItemID {
        switch self {
        case .insert(let row), .update(let row, _): row.id
        case .delete(let id, _): id
        }
    }
}

/// The contents of a row after a change.
struct ItemRow: Sendable {
    /// The ID of the item.
    let id: ItemID

    /// The revision of the change; each change of a collection has the next one.
    let revision: UInt64

    /// The label, attributes and times.
    let metadata: ItemMetadata

    /// The blind tags of the attributes, ascending.
    let tags: [UInt64]

    /// The new secret; nil keeps the old one.
    let secret: SharedSecret?

    /// The item key of the new secret, if it is sealed under one.
    let key: ItemKey?
}

/// The contents of one transaction.
struct CollectionChange: Sendable {
    /// The changed rows, one per item.
    var rows: [RowChange] = []

    /// The collection state after the change; the writer sets its hash.
    var state: CollectionState
}
