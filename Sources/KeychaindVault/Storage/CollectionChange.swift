import KeychaindModel

/// The changes of one commit.
struct CollectionChange: Sendable {
    var rows: [RowChange] = []

    /// The collection state after the change.
    var state: CollectionState

    /// Whether it stores items that need authentication.
    var protectsItems: Bool {
        rows.contains { row in
            switch row {
            case .insert(let row), .update(let row): row.protection.needsAuthentication
            case .delete: false
            }
        }
    }

    /// Whether items are deleted and nothing else, which makes room.
    var onlyDeletes: Bool {
        !rows.isEmpty && rows.allSatisfy { row in if case .delete = row { true } else { false } }
    }
}

/// The change of one item.
enum RowChange: Sendable {
    case insert(ItemRow)

    case update(ItemRow)

    case delete(ItemID)

    var id: ItemID {
        switch self {
        case .insert(let row), .update(let row): row.id
        case .delete(let id): id
        }
    }
}

/// An item to write, not sealed yet.
struct ItemRow: Sendable {
    let id: ItemID

    /// The revision of the change; each change of a collection has the next one.
    let revision: UInt64
    let metadata: ItemMetadata

    /// What the attributes state.
    let protection: ItemProtection

    /// The blind tags of the attributes, ascending.
    let tags: [UInt64]

    let secret: SecretReference?

    /// The item key of the new secret, if it is sealed under one.
    let key: ItemKey?

    /// Whether no past state may keep the item as it was: it is better protected now.
    var erasesPast = false
}
