import KeychaindModel

/// The changes of one transaction.
struct CollectionChange: Sendable {
    var rows: [RowChange] = []

    /// The collection state after the change; the writer sets its hash.
    var state: CollectionState

    /// Whether items are deleted and nothing else, which makes room.
    var onlyDeletes: Bool {
        !rows.isEmpty && rows.allSatisfy { row in if case .delete = row { true } else { false } }
    }
}

/// The change of one row of the item table.
enum RowChange: Sendable {
    case insert(ItemRow)

    /// A changed item, with its previous revision.
    case update(ItemRow, from: UInt64)

    /// A deleted item, with its last revision.
    case delete(ItemID, from: UInt64)

    var id: ItemID {
        switch self {
        case .insert(let row), .update(let row, _): row.id
        case .delete(let id, _): id
        }
    }
}

/// An item to write, not sealed yet.
struct ItemRow: Sendable {
    let id: ItemID

    /// The revision of the change; each change of a collection has the next one.
    let revision: UInt64
    let metadata: ItemMetadata

    /// The blind tags of the attributes, ascending.
    let tags: [UInt64]

    let secret: SharedSecret?

    /// The item key of the new secret, if it is sealed under one.
    let key: ItemKey?
}
