import KeychaindModel

/// An item in memory; a table has many, so it is small.
struct ItemRecord: Sendable {
    enum Condition: UInt8, Sendable {
        /// Everything, the secret sealed.
        case intact

        /// The ID and the tags.
        case unread

        /// The ID and the tags; the rest failed authentication.
        case damaged

        /// Nothing: the item was deleted, and the record will be removed.
        case deleted
    }

    let id: ItemID
    var revision: UInt64

    /// The metadata, with the sealed secret; empty unless the item is intact.
    var metadata: ItemMetadata

    var condition: Condition

    /// The sealed secret; nil when it is not in memory.
    var sealedSecret: ArraySlice<UInt8>? { metadata.sealedSecret }

    init(id: ItemID, revision: UInt64, condition: Condition = .unread) {
        self.init(id: id, revision: revision, condition: condition, metadata: .unknown)
    }

    init(
        id: ItemID,
        revision: UInt64,
        condition: Condition = .intact,
        metadata: ItemMetadata
    ) {
        self.id = id
        self.revision = revision
        self.metadata = metadata
        self.condition = condition
    }
}

extension ItemMetadata {
    static let unknown = ItemMetadata(
        secretRevision: 0,
        created: Timestamp(microsecondsSinceEpoch: 0),
        modified: Timestamp(microsecondsSinceEpoch: 0),
        label: "",
        attributes: Attributes()
    )
}
