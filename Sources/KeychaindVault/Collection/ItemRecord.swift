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

    /// The bytes of the sealed secret, which need not be in memory; zero unless the item is intact.
    var secretBytes: UInt32

    /// The sealed secret; nil when it is not in memory.
    var sealedSecret: ArraySlice<UInt8>? { metadata.sealedSecret }

    init(id: ItemID, revision: UInt64, condition: Condition = .unread) {
        self.init(id: id, revision: revision, condition: condition, metadata: .unknown)
    }

    init(
        id: ItemID,
        revision: UInt64,
        condition: Condition = .intact,
        metadata: ItemMetadata,
        secretBytes: Int = 0
    ) {
        self.id = id
        self.revision = revision
        self.metadata = metadata
        self.condition = condition
        self.secretBytes = UInt32(clamping: secretBytes)
    }
}

extension ItemRecord {
    /// A stored row; with the former secret, if it has no new one.
    init(of row: ItemRow, _ metadata: ItemMetadata, instead old: ItemRecord? = nil) {
        let size = row.secret.map { new in SecretsKey.sealedSize(of: new.secret, underItemKey: row.key != nil) }
        self.init(
            id: row.id,
            revision: row.revision,
            metadata: metadata,
            secretBytes: size ?? Int(old?.secretBytes ?? 0)
        )
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
