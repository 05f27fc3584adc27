import KeychainModel

/// An item in memory: a cell of the table, so it is kept small.
struct ItemRecord: Sendable {
    /// How much of an item is known.
    enum Condition: UInt8, Sendable {
        /// All but the secret, which is sealed.
        case intact

        /// The number and the tags only.
        case unread

        /// The number and the tags only, since the rest is not what was written; the table says why.
        case damaged

        /// Nothing: the item was deleted, and its cell will be dropped.
        case deleted
    }

    /// The number of the item.
    let id: ItemID

    /// The revision of the item's last change.
    var revision: UInt64

    /// The label, attributes and times; empty unless the item is intact.
    var metadata: ItemMetadata

    /// The sealed secret; nil when it is too large to stay in memory, or not known.
    var sealedSecret: [UInt8]?

    /// How much is known.
    var condition: Condition

    /// An item of which only the number and the revision are known.
    init(id: ItemID, revision: UInt64, condition: Condition = .unread) {
        self.id = id
        self.revision = revision
        self.metadata = .unknown
        self.sealedSecret = nil
        self.condition = condition
    }

    /// An item that is as it was written.
    init(id: ItemID, revision: UInt64, metadata: ItemMetadata, sealedSecret: [UInt8]?) {
        self.id = id
        self.revision = revision
        self.metadata = metadata
        self.sealedSecret = sealedSecret
        self.condition = .intact
    }
}

extension ItemMetadata {
    /// What stands for metadata that cannot be read.
    static let unknown = ItemMetadata(
        secretRevision: 0,
        created: Timestamp(microsecondsSinceEpoch: 0),
        modified: Timestamp(microsecondsSinceEpoch: 0),
        label: "",
        attributes: Attributes()
    )
}
