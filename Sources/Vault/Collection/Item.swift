package import KeychainModel

/// What can be told of an item without its secret.
package struct Item: Equatable, Sendable {
    /// Whether an item is as it was written.
    package enum Condition: Equatable, Sendable {
        /// The label, attributes and times are what was written. The secret is tested when it is opened.
        case intact

        /// The collection has not been unlocked since the process started, so that only the number is known.
        case unread

        /// What is stored is not what was written. It is kept as it is.
        case damaged(reason: String)
    }

    /// The number of the item.
    package let id: ItemID

    /// The name for people; empty when it cannot be read.
    package let label: String

    /// The lookup attributes; empty when they cannot be read.
    package let attributes: Attributes

    /// When the item was made; the epoch when that cannot be read.
    package let created: Timestamp

    /// When the item was last changed; the epoch when that cannot be read.
    package let modified: Timestamp

    /// Whether the item is as it was written.
    package let condition: Condition

    /// What is left to tell of an item that was deleted.
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
