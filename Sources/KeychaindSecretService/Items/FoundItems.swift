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

        var path: ObjectPath { .item(reference.id, in: collection.name) }

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
    private var found: Set<ItemReference> = []
    private let client: Client
    private let access: ItemAccess

    /// The D-Bus structure: path, number of the query, whether it is locked, attributes, label, and the times of
    /// creation and change.
    static let signature = "(ouba{ss}stt)"

    /// Bytes of a row besides its path, label and attributes.
    private static let bytesPerRow = 64

    /// - Parameter client: the client that decides which items are locked.
    init(for client: Client, access: ItemAccess) {
        self.client = client
        self.access = access
    }

    /// Adds items that were not found before.
    @BusActor
    mutating func add(_ ids: [ItemID], in collection: Collection, query: Int = 0) {
        for id in ids {
            let reference = ItemReference(id, in: collection)
            guard found.insert(reference).inserted else { continue }
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
        rows.sort { first, second in first.comes(before: second) }
        if limit > 0, limit < rows.count { rows.removeSubrange(limit...) }
    }

    var count: Int { rows.count }

    /// The items that the client may read.
    var unlockedPaths: [ObjectPath] { rows.filter { !$0.isLocked }.map(\.path) }

    /// Bytes of the rows in a reply; stops counting above the limit.
    @BusActor
    func byteCount(upTo limit: Int) -> Int {
        var count = 0
        for row in rows {
            guard count <= limit else { break }
            guard let item = row.collection.item(row.reference.id) else { continue }
            // A marshalled attribute has two lengths and padding.
            count += FoundItems.bytesPerRow + row.path.rawValue.utf8.count + item.label.utf8.count
            count += item.attributes.packed.count + item.attributes.count * 24
        }
        return count
    }

    /// Writes the items that still exist.
    @BusActor
    func write(to writer: inout Writer) {
        let items = rows.compactMap { row in row.collection.item(row.reference.id).map { (row, $0) } }
        writer.writeArray(of: FoundItems.signature) { writer in
            for (row, item) in items {
                writer.writeStructure { writer in
                    row.path.write(to: &writer)
                    UInt32(row.query).write(to: &writer)
                    row.isLocked.write(to: &writer)
                    item.attributes.write(to: &writer)
                    item.label.write(to: &writer)
                    item.created.microseconds.write(to: &writer)
                    item.modified.microseconds.write(to: &writer)
                }
            }
        }
    }
}

extension Timestamp {
    /// Zero before the epoch.
    fileprivate var microseconds: UInt64 { UInt64(max(0, microsecondsSinceEpoch)) }
}
