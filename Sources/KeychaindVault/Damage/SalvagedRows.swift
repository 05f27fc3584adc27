import KeychaindGcrypt

/// The rows in the new file of a salvage.
struct SalvagedRows {
    private(set) var ids: Set<Int64> = []
    private(set) var hash = MultisetHash()
    /// The number of rows that were damaged or lost, and which were in memory.
    private(set) var fromMemory = 0
    /// The number of rows that are not genuine, nor in memory.
    private(set) var damaged = 0
    /// Above the ID of each row that was found.
    private(set) var nextItem: UInt64
    /// The highest revision of the rows in the new file.
    private(set) var lastRevision: UInt64 = 0

    private let keys: CheckKeys
    private let insertion: Statement

    init(in database: Database, keys: CheckKeys, nextItem: UInt64) throws(VaultError) {
        self.keys = keys
        self.nextItem = nextItem
        insertion = try database.prepare(
            "INSERT INTO item (id, revision, tags, metadata, secret) VALUES (?1, ?2, ?3, ?4, ?5)"
        )
    }

    /// Takes the intact rows of a damaged file, and others from memory, if it has them.
    mutating func take(from remains: FileRemains, _ memory: ItemsInMemory?) throws(VaultError) {
        var verifier = RowVerifier(keys)
        try remains.forEachRow(secretsUpTo: .max) { (row) throws(VaultError) in
            // An ID that was never given out may be a damaged one.
            if let above = UInt64(exactly: row.id), above < UInt64(Int64.max) {
                nextItem = max(nextItem, above + 1)
            }
            let intact = try verifier.verify(row) == nil ? nil : SealedItem(row)
            if let item = try memory?.item(row.id, insteadOf: intact, withSecretOf: row) {
                try take(item)
                fromMemory += 1
            } else if let intact {
                try take(intact)
            } else {
                damaged += 1
            }
        }
        for id in memory?.ids ?? [] where !ids.contains(id) {
            guard let item = try memory?.item(id) else { continue }
            try take(item)
            fromMemory += 1
        }
    }

    private mutating func take(_ item: SealedItem) throws(VaultError) {
        hash.add(
            try cipher { () throws(GcryptError) in
                try keys.collection.hash(item: UInt64(bitPattern: item.id), revision: item.revision)
            }
        )
        try insertion.bind(item)
        try insertion.run()
        ids.insert(item.id)
        lastRevision = max(lastRevision, item.revision)
    }
}
