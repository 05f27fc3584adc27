import KeychaindGcrypt
import KeychaindModel

/// The items that a collection has in memory, for a salvage of its file.
struct ItemsInMemory: Sendable {
    let table: ItemTable
    let indexKey: BlindIndexKey
    let keys: CheckKeys

    var ids: [Int64] { table.ids.map { id in Int64(bitPattern: id.rawValue) } }

    /// Seals an item anew, with its secret as it was sealed; nil if memory does not have all of it.
    ///
    /// - Parameters:
    ///   - intact: the item in the file; if that is as new as the one in memory, the result is nil, too.
    ///   - row: a row with the secret, if it is too large for the memory.
    func item(
        _ number: Int64,
        insteadOf intact: SealedItem? = nil,
        withSecretOf row: CollectionFile.Row? = nil
    ) throws(VaultError) -> SealedItem? {
        guard let id = UInt64(exactly: number).flatMap(ItemID.init(rawValue:)), let record = table[id],
            record.condition == .intact
        else { return nil }
        if let intact, intact.revision >= record.revision { return nil }
        guard let secret = record.sealedSecret.map(Array.init) ?? row?.secret.map(Array.init) else { return nil }
        let tags = RowSealer.encode(try indexKey.tags(ofItem: record.metadata.attributes))
        let metadata = try cipher { () throws(GcryptError) in
            try keys.collection.seal(record.metadata, of: id, revision: record.revision, tags: tags)
        }
        let item = SealedItem(
            id: number,
            revision: record.revision,
            tags: tags,
            metadata: metadata,
            secret: secret
        )
        var verifier = RowVerifier(keys)
        let isGenuine = try item.withRow { (row) throws(VaultError) in try verifier.verify(row) != nil }
        return isGenuine ? item : nil
    }
}

/// A copy of a row.
struct SealedItem {
    let id: Int64
    let revision: UInt64
    let tags: [UInt8]
    let metadata: [UInt8]
    let secret: [UInt8]

    func withRow<Result>(
        _ body: (CollectionFile.Row) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try tags.withRawBytes { (tags) throws(VaultError) in
            try metadata.withRawBytes { (metadata) throws(VaultError) in
                try secret.withRawBytes { (secret) throws(VaultError) in
                    try body(
                        CollectionFile.Row(
                            id: id,
                            revision: revision,
                            tags: tags,
                            metadata: metadata,
                            secret: secret,
                            secretBytes: secret.count
                        )
                    )
                }
            }
        }
    }
}

extension SealedItem {
    /// Nil if the row comes without its secret.
    init?(_ row: CollectionFile.Row) {
        guard let secret = row.secret else { return nil }
        self.init(
            id: row.id,
            revision: row.revision,
            tags: Array(row.tags),
            metadata: Array(row.metadata),
            secret: Array(secret)
        )
    }
}

extension Statement {
    /// Binds the parameters of an insertion of an item.
    func bind(_ item: SealedItem) throws(VaultError) {
        try bind(item.id, at: 1)
        try bind(Int64(bitPattern: item.revision), at: 2)
        try bind(item.tags, at: 3)
        try bind(item.metadata, at: 4)
        try bind(item.secret, at: 5)
    }
}

extension Collection {
    /// Keeps what the object before had, after a salvage that has failed: the file may not have all of its items.
    func keepMemory(of retired: Collection) {
        foundDamage = retired.foundDamage
        guard case .unlocked = phase, identifier == retired.identifier,
            properties.revision <= retired.properties.revision
        else { return }
        table = retired.table
    }
}
