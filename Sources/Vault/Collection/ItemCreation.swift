package import KeychainModel

/// What came of a call that makes an item.
package enum ItemCreation: Equatable, Sendable {
    /// There is a new item.
    case created(ItemID)

    /// An item with equal attributes took the new label, attributes and secret (#94, #95).
    case replaced(ItemID)

    /// The item that has the secret now.
    package var id: ItemID {
        switch self {
        case .created(let id), .replaced(let id): id
        }
    }
}
