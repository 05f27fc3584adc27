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
    /// Filled only where an item could be found twice.
    private var known: Set<ItemReference> = []
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

    var count: Int { rows.count }

    /// Adds the items of a query in a collection that were not found before.
    @BusActor
    mutating func add(_ ids: [ItemID], in collection: Collection, query: Int) {
        // Most searches end with the first query, in which each item is found once.
        guard query > 0 else { return ids.forEach { append(ItemReference($0, in: collection), collection, query) } }
        for row in rows[known.count...] { known.insert(row.reference) }
        for id in ids { add(id, in: collection, query: query) }
    }

    /// Adds an item unless it was added before in this way.
    @BusActor
    mutating func add(_ id: ItemID, in collection: Collection, query: Int = 0) {
        let reference = ItemReference(id, in: collection)
        if known.insert(reference).inserted { append(reference, collection, query) }
    }

    @BusActor
    private mutating func append(_ reference: ItemReference, _ collection: Collection, _ query: Int) {
        let id = reference.id
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

    /// Sorts the items, and keeps the first ones.
    ///
    /// - Parameter limit: the number to keep; zero for all.
    mutating func sort(limit: Int) {
        if rows.count > 1 { rows.sort { $0.comes(before: $1) } }
        if limit > 0, limit < rows.count { rows.removeSubrange(limit...) }
    }

    /// The items that the client may read.
    var unlocked: some Sequence<(id: ItemID, collection: Collection)> {
        rows.lazy.filter { !$0.isLocked }.map { ($0.reference.id, $0.collection) }
    }

    private func byteCount(of row: Row, _ item: Item?) -> Int {
        let size = FoundItems.bytesPerRow + ItemPaths.maximumByteCount(in: row.collection.name)
        guard let item else { return size }
        // A marshalled attribute has two lengths and padding.
        return size + item.label.utf8.count + item.attributes.packed.count + item.attributes.count * 24
    }

    @BusActor
    private func item(of row: Row) -> Item? { row.collection.item(row.reference.id) }

    /// Writes the items; throws `LimitsExceeded` past the maximum of bytes.
    @BusActor
    func write(to writer: inout Writer, upTo limit: Int) throws(BusError) {
        let array = writer.beginArray(of: FoundItems.signature)
        var size = 0
        for row in rows {
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

extension BusError {
    /// The error of a search whose reply would be too large.
    static var tooManyHits: BusError {
        BusError(.limitsExceeded, "too many items match for one reply; search with more attributes")
    }
}
