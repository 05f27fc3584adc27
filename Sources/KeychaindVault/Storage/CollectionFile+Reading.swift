import KeychaindModel

extension CollectionFile {
    /// A row of the item table; its bytes are valid until the next row.
    struct Row {
        let id: Int64
        let revision: UInt64
        let tags: UnsafeRawBufferPointer
        let metadata: UnsafeRawBufferPointer
        // Nil when it is longer than the requested limit.
        let secret: UnsafeRawBufferPointer?
        let secretBytes: Int
    }

    func header() throws(VaultError) -> CollectionHeader {
        let row = try database.prepare("SELECT uuid, label, created, modified, index_key FROM header")
        guard try row.step() else { throw VaultError(.unreadable, reason: "the header is missing") }
        var header = CollectionHeader(
            identifier: Array(row.bytes(at: 0)),
            label: row.text(at: 1),
            created: Timestamp(microsecondsSinceEpoch: row.integer(at: 2)),
            modified: Timestamp(microsecondsSinceEpoch: row.integer(at: 3)),
            indexKey: Array(row.bytes(at: 4)),
            slots: []
        )
        guard header.identifier.count == CollectionFormat.identifierSize else {
            throw VaultError(.unreadable, reason: "the collection's identifier is damaged")
        }
        try addSlots(to: &header)
        guard header.slots.contains(where: \.opensCollection) else {
            throw VaultError(.unreadable, reason: "all its key slots are damaged")
        }
        return header
    }

    func state() throws(VaultError) -> [UInt8] {
        let row = try database.prepare("SELECT state FROM header")
        guard try row.step() else { throw VaultError(.unreadable, reason: "the header is missing") }
        return Array(row.bytes(at: 0))
    }

    /// The highest item ID; counting the items would read the whole file.
    func highestItem() throws(VaultError) -> Int {
        Int(clamping: try database.integer("SELECT max(id) FROM item"))
    }

    func forEachTags(_ body: (_ id: Int64, _ revision: UInt64, _ tags: UnsafeRawBufferPointer) -> Void)
        throws(VaultError)
    {
        let rows = try database.prepare("SELECT id, revision, tags FROM item ORDER BY id")
        while try rows.step() {
            body(rows.integer(at: 0), UInt64(bitPattern: rows.integer(at: 1)), rows.bytes(at: 2))
        }
    }

    /// Calls `body` with each row, in ID order; secrets longer than `limit` bytes are not read.
    func forEachRow(
        secretsUpTo limit: Int,
        _ body: (Row) throws(VaultError) -> Void
    ) throws(VaultError) {
        let rows = try database.prepare(
            """
            SELECT id, revision, tags, metadata, iif(length(secret) <= ?1, secret, NULL), length(secret) FROM item \
            ORDER BY id
            """
        )
        try rows.bind(Int64(limit), at: 1)
        while try rows.step() {
            try body(
                Row(
                    id: rows.integer(at: 0),
                    revision: UInt64(bitPattern: rows.integer(at: 1)),
                    tags: rows.bytes(at: 2),
                    metadata: rows.bytes(at: 3),
                    secret: rows.isNull(at: 4) ? nil : rows.bytes(at: 4),
                    secretBytes: Int(clamping: rows.integer(at: 5))
                )
            )
        }
    }

    func secret(of id: ItemID) throws(VaultError) -> [UInt8] {
        let row = try database.prepare("SELECT secret FROM item WHERE id = ?1")
        try row.bind(Int64(id.rawValue), at: 1)
        guard try row.step() else { throw VaultError(.unreadable, reason: "item \(id) is missing in the file") }
        return Array(row.bytes(at: 0))
    }
}
