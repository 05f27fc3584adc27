package import KeychainModel

/// An item without its secret.
package struct Item: Equatable, Sendable {
    /// The condition of an item.
    package enum Condition: Equatable, Sendable {
        /// The label, attributes and times are authentic. The secret is checked when it is opened.
        case intact

        /// The collection has not been unlocked since the start; only the ID is known.
        case unread

        /// Authentication failed. The item is left as it is.
        case damaged(reason: String)
    }

    /// The ID of the item.
    package let id: ItemID

    /// The display name; empty when it cannot be read.
    package let label: String

    /// The lookup attributes; empty when they cannot be read.
    package let attributes: Attributes

    /// The creation time; the epoch when it cannot be read.
    package let created: Timestamp

    /// The modification time; the epoch when it cannot be read.
    package let modified: Timestamp

    /// The condition of the item.
    package let condition: Condition

    /// Returns the placeholder of a deleted item.
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
