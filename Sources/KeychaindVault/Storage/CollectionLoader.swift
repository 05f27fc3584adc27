import KeychaindGcrypt
import KeychaindModel

/// Opens the rows of a collection into a table.
struct CollectionLoader: ~Copyable {
    private let keys: CollectionKeys
    private var opener: RowOpener
    private let indexKey: BlindIndexKey?
    private let residentSecretBytes: Int

    private var table: ItemTable
    private var position = 0
    private let isFilling: Bool
    private var hash = MultisetHash()
    private var strayRows = 0

    /// - Parameters:
    ///   - table: the items and index as known without keys, or an empty table.
    ///   - indexKey: the key to make new tags with; nil keeps the stored tags.
    init(
        into table: ItemTable,
        keys: CollectionKeys,
        indexKey: BlindIndexKey?,
        residentSecretBytes: Int
    ) throws(VaultError) {
        self.table = table
        isFilling = table.count > 0
        self.keys = keys
        self.indexKey = indexKey
        self.residentSecretBytes = residentSecretBytes
        opener = try cipher { () throws(GcryptError) in try keys.rowOpener() }
    }

    mutating func load(from file: any CollectionSource) throws(VaultError) -> LoadedContents {
        let state = try keys.openState(file.state())
        let limit = residentSecretBytes + SecretsKey.overhead
        try file.forEachRow(secretsUpTo: limit) { (row) throws(VaultError) in try add(row) }
        guard !isFilling || table.isFull(at: position) else { throw Self.foreignWriter }
        return LoadedContents(
            table: table,
            sealedState: state,
            isWhole: isWhole(state) ?? false,
            problems: (file as? FileRemains).map { remains in losses(state, of: remains) } ?? problems(state)
        )
    }

    private mutating func add(_ row: CollectionFile.Row) throws(VaultError) {
        guard let number = UInt64(exactly: row.id), let id = ItemID(rawValue: number) else {
            strayRows += 1
            return
        }
        let metadata = try cipher { () throws(GcryptError) in
            hash.add(try keys.hash(item: number, revision: row.revision))
            return try opener.open(
                item: number,
                revision: row.revision,
                tags: row.tags,
                metadata: row.metadata
            ) { bytes -> ItemMetadata? in
                var metadata = ItemMetadata(reserving: bytes.count, sealedSecret: row.secret)
                return metadata.decode(bytes) ? metadata : nil
            }
        }
        guard let metadata else {
            let tags = Array(StoredTags(row.tags))
            try place(ItemRecord(id: id, revision: row.revision, condition: .damaged), tags: tags)
            table.markDamaged(id, reason: "its metadata is damaged", tags: tags)
            return
        }
        let record = ItemRecord(
            id: id,
            revision: row.revision,
            metadata: metadata,
            secretBytes: row.secretBytes
        )
        if let indexKey {
            try place(record, tags: try indexKey.tags(ofItem: metadata.attributes))
        } else {
            try place(record, tags: StoredTags(row.tags))
        }
    }

    private mutating func place(_ record: ItemRecord, tags: some Sequence<UInt64>) throws(VaultError) {
        defer { position += 1 }
        guard isFilling else {
            table.append(record, tags: tags)
            return
        }
        guard table.fill(record, at: position) else {
            throw Self.foreignWriter
        }
    }

    private static let foreignWriter = VaultError(
        .busy,
        reason: "another program changed the file after it was opened"
    )

    private func isWhole(_ state: CollectionState?) -> Bool? {
        state.map { state in state.hash == hash && state.itemCount == UInt64(table.count + strayRows) }
    }

    /// The problems of a damaged file.
    private func losses(_ state: CollectionState?, of remains: FileRemains) -> [String] {
        let intact = table.count - table.damagedCount
        guard let state else {
            return [
                """
                the file is damaged: \(intact) of its items \(intact.isOrAre) intact; \
                it is unknown how many are lost
                """
            ]
        }
        if isWhole(state) == true, table.damagedCount == 0 {
            guard remains.lacksEnd else {
                return ["the file is damaged, but all of its \(intact) items are intact"]
            }
            return ["the file is damaged: its \(intact) items are intact, but the latest changes may be lost"]
        }
        return [
            """
            the file is damaged: \(intact) of its \(state.itemCount) items \(intact.isOrAre) intact, \
            \(table.damagedCount) \(table.damagedCount.isOrAre) damaged, the others are lost
            """
        ]
    }

    private func problems(_ state: CollectionState?) -> [String] {
        var problems: [String] = []
        if table.damagedCount > 0 {
            let damaged = table.damagedCount
            problems.append("\(damaged) of its items \(damaged.isOrAre) damaged and left unchanged")
        }
        if let state, isWhole(state) == false {
            problems.append(
                """
                items were removed, added or rolled back without the key: \
                the file has \(table.count) items, the collection had \(state.itemCount)
                """
            )
        }
        return problems
    }
}

/// The items of a file, opened with its keys.
struct LoadedContents: Sendable {
    var table: ItemTable

    var sealedState: CollectionState?

    /// Whether the rows match the sealed state.
    var isWhole: Bool

    var problems: [String]

    var condition = FileCondition.sound

    /// Why the disk did not return all of the file; it may pass.
    var failure: VaultError?
}
