package import KeychainModel

/// The result of creating an item.
package enum ItemCreation: Equatable, Sendable {
    /// A new item.
    case created(ItemID)

    /// An existing item with equal attributes, changed (#94, #95).
    case replaced(ItemID)

    /// The ID of the item.
    package var id: ItemID {
        switch self {
        case .created(let id), .replaced(let id): id
        }
    }
}
