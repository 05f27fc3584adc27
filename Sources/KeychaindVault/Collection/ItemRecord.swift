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

    /// The metadata; empty unless the item is intact.
    var metadata: ItemMetadata

    // Here it takes no memory: the metadata end in the middle of a word.
    var condition: Condition

    /// The sealed secret; nil when it is not in memory.
    var sealedSecret: [UInt8]?

    init(id: ItemID, revision: UInt64, condition: Condition = .unread) {
        self.id = id
        self.revision = revision
        self.metadata = .unknown
        self.sealedSecret = nil
        self.condition = condition
    }

    init(
        id: ItemID,
        revision: UInt64,
        condition: Condition = .intact,
        metadata: ItemMetadata,
        sealedSecret: [UInt8]?
    ) {
        self.id = id
        self.revision = revision
        self.metadata = metadata
        self.sealedSecret = sealedSecret
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
