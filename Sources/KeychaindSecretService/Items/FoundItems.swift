import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Items found by `Search` of `org.keychaind.Search1`, in the order of the queries, then of creation.
struct FoundItems {
    private struct Row {
        let query: Int
        /// Nil for an item of a collection that was never unlocked.
        let created: Timestamp?
        let reference: ItemReference
        let collection: Collection
        let isLocked: Bool

        /// Items without a time come last, as their order is unknown.
        func comes(before other: Row) -> Bool {
            guard query == other.query else { return query < other.query }
            guard created == other.created else {
                guard let created else { return false }
                return other.created.map { created < $0 } ?? true
            }
            guard collection.name == other.collection.name else { return collection.name < other.collection.name }
            return reference.id < other.reference.id
        }
    }

    private var rows: [Row] = []
    /// The numbers of the rows in the order of the reply.
    private var order: [Int] = []
    /// The rows of earlier queries, whose items are not added again.
    private var earlier: Set<ItemReference> = []
    /// How many rows are among them.
    private var earlierCount = 0
    private let client: Client
    private let access: ItemAccess

    /// The D-Bus structure: path, number of the query, whether it is locked, attributes, label, and the times of
    /// creation and change; the last four are empty or zero for an item of a collection that was never unlocked.
    static let signature = "(ouba{ss}stt)"

    /// Bytes of a row besides its path, label and attributes.
    private static let bytesPerRow = 64

    /// - Parameter client: the client that decides which items are locked.
    init(for client: Client, access: ItemAccess) {
        self.client = client
        self.access = access
    }

    /// Adds the items of the next query that were not found before.
    @BusActor
    mutating func add(query: Int, _ hits: [LongSearch.Hits]) {
        // Most searches end with the first query.
        noteEarlier(upTo: rows.count)
        for (collection, ids) in hits { add(ids, in: collection, query: query) }
    }

    /// Does the same, and lets other calls in between.
    @BusActor
    mutating func add(query: Int, _ hits: [LongSearch.Hits], _ slice: inout TimeSlice) async {
        while earlierCount < rows.count {
            await slice.yieldIfOver()
            noteEarlier(upTo: min(earlierCount + FoundItems.rowsPerPart, rows.count))
        }
        for (collection, ids) in hits {
            for start in stride(from: 0, to: ids.count, by: FoundItems.rowsPerPart) {
                await slice.yieldIfOver()
                let end = min(start + FoundItems.rowsPerPart, ids.count)
                add(ids[start..<end], in: collection, query: query)
            }
        }
    }

    private static let rowsPerPart = 16

    private mutating func noteEarlier(upTo count: Int) {
        for row in rows[earlierCount..<count] { earlier.insert(row.reference) }
        earlierCount = count
    }

    /// Adds items named by a client, each once.
    @BusActor
    mutating func add(_ items: [(collection: Collection, id: ItemID)]) {
        for (collection, id) in items {
            add([id], in: collection, query: 0)
            earlier.insert(ItemReference(id, in: collection))
        }
    }

    @BusActor
    private mutating func add(_ ids: some Sequence<ItemID>, in collection: Collection, query: Int) {
        for id in ids {
            let reference = ItemReference(id, in: collection)
            guard earlier.isEmpty || !earlier.contains(reference) else { continue }
            rows.append(
                Row(
                    query: query,
                    created: collection.created(of: id),
                    reference: reference,
                    collection: collection,
                    isLocked: access.isLocked(id, in: collection, for: client)
                )
            )
        }
    }

    /// Sorts the items, and keeps the first ones.
    ///
    /// - Parameter limit: the number to keep; zero for all.
    mutating func sort(limit: Int) {
        order = Array(rows.indices)
        if rows.count > 1 { order.sort { rows[$0].comes(before: rows[$1]) } }
        keepFirst(limit)
    }

    /// Does the same, and lets other calls in between.
    @BusActor
    mutating func sort(limit: Int, _ slice: inout TimeSlice) async {
        let rows = rows
        var order = Array(rows.indices)
        await order.sort(
            pausing: {
                await slice.yieldIfOver()
                return true
            },
            by: { rows[$0].comes(before: rows[$1]) }
        )
        self.order = order
        keepFirst(limit)
    }

    private mutating func keepFirst(_ limit: Int) {
        if limit > 0, limit < order.count { order.removeSubrange(limit...) }
    }

    /// The number of items: those that were added, until they are sorted.
    var count: Int { order.isEmpty ? rows.count : order.count }

    /// The items that the client may read.
    var unlocked: [FoundItem] { order.indices.compactMap(readable) }

    /// The item of a number in the order of the reply, if the client may read it.
    func readable(_ number: Int) -> FoundItem? {
        let row = rows[order[number]]
        return row.isLocked ? nil : FoundItem(row.reference.id, in: row.collection)
    }

    /// Bytes of the rows in a reply.
    @BusActor var byteCount: Int {
        order.reduce(0) { $0 + byteCount(of: rows[$1], item(of: rows[$1])) }
    }

    private func byteCount(of row: Row, _ item: Item?) -> Int {
        let size = FoundItems.bytesPerRow + ItemPaths.maximumByteCount(in: row.collection.name)
        guard let item else { return size }
        // A marshalled attribute has two lengths and padding.
        return size + item.label.utf8.count + item.attributes.packed.count + item.attributes.count * 24
    }

    @BusActor
    private func item(of row: Row) -> Item? { row.collection.item(row.reference.id) }

    /// Writes the items that still exist.
    @BusActor
    func write(to writer: inout Writer) {
        writer.writeArray(of: FoundItems.signature) { writer in
            for row in order.lazy.map({ rows[$0] }) where row.collection.contains(row.reference.id) {
                write(row, item(of: row), to: &writer)
            }
        }
    }

    /// Writes the items that still exist for the client, and lets other calls in between.
    ///
    /// Throws `LimitsExceeded` past the maximum of bytes, and `NoReply` once the client has left.
    @BusActor
    func write(to writer: inout Writer, _ slice: inout TimeSlice, upTo limit: Int) async throws(BusError) {
        let array = writer.beginArray(of: FoundItems.signature)
        var size = 0
        for number in order {
            await slice.yieldIfOver()
            try client.checkConnected()
            let row = rows[number]
            guard row.collection.contains(row.reference.id), client.sees(row.reference.id, in: row.collection) else {
                continue
            }
            let item = item(of: row)
            size += byteCount(of: row, item)
            guard size <= limit else { throw BusError.tooManyHits }
            write(row, item, to: &writer)
        }
        writer.end(array)
    }

    private func write(_ row: Row, _ item: Item?, to writer: inout Writer) {
        let description = item.map(Description.init) ?? Description()
        writer.writeStructure { writer in
            ObjectPath.item(row.reference.id, in: row.collection.name).write(to: &writer)
            UInt32(row.query).write(to: &writer)
            row.isLocked.write(to: &writer)
            description.write(to: &writer)
        }
    }

    /// The description of an item; empty for one of a collection that was never unlocked.
    private struct Description {
        var attributes = Attributes()
        var label = ""
        var created: UInt64 = 0
        var modified: UInt64 = 0

        init() {}

        init(_ item: Item) {
            attributes = item.attributes
            label = item.label
            created = item.created.microseconds
            modified = item.modified.microseconds
        }

        func write(to writer: inout Writer) {
            attributes.write(to: &writer)
            label.write(to: &writer)
            created.write(to: &writer)
            modified.write(to: &writer)
        }
    }
}

/// An item that a search found, and its path.
struct FoundItem {
    let collection: Collection
    let id: ItemID

    init(_ id: ItemID, in collection: Collection) {
        self.collection = collection
        self.id = id
    }

    var path: ObjectPath { .item(id, in: collection.name) }
}

extension BusError {
    /// The error of a search whose reply would be too large.
    static var tooManyHits: BusError {
        BusError(.limitsExceeded, "too many items match for one reply; search with more attributes")
    }
}
