import KeychaindModel

/// What can be read of a damaged collection's file, page by page without SQLite; nothing is written.
///
/// Rows are recognised by their shape, wherever they lie, so that no other page is needed to find them. The keys show
/// whether they are genuine.
final class FileRemains: CollectionSource {
    private struct FoundItem {
        let id: Int64
        let revision: UInt64
        let tags: Range<Int>
        let metadata: Range<Int>
        let secret: Range<Int>
        let content: PageRows.Content
    }

    /// Copies of the header in pages that are no longer used count.
    private static let maximumHeaders = 16
    /// More bytes than the tags and the metadata of an item can have.
    private static let maximumMetadata = 2 << 20
    /// More bytes than a sealed secret can have.
    private static let maximumSecret = 32 << 20

    private let pages: PageFile
    private var chains: Set<Int> = []
    /// The bytes that the rows found so far have; together they fit into the file.
    private var total = 0
    private var items: [Int64: FoundItem] = [:]
    private var headers: [CollectionHeader] = []
    private var states: [[UInt8]] = []
    private var slots: [(slot: KeySlot, checksum: [UInt8])] = []

    /// Reads all pages; blocks.
    ///
    /// Throws `unreadable` unless it is a regular file, and disk errors.
    init(of name: String, in folder: Folder) throws(VaultError) {
        pages = try PageFile(folder.file(name), maximumSize: Int(VaultLimits().copyBytes))
        let free = freePages()
        for number in 1...max(1, pages.count) where !free.contains(number) {
            guard let page = PageRows(number, of: pages) else { continue }
            for row in page.rows { add(row) }
        }
        for (number, bytes) in pages.doubtfulPages where !free.contains(number) {
            guard let page = PageRows(bytes, number: number, usableSize: pages.usableSize) else { continue }
            // What is whole elsewhere is not replaced by what may be damaged.
            for row in page.rows where items[row.id] == nil { add(row) }
        }
    }

    /// Whether the latest changes may be lost, although what was found fits together.
    var lacksEnd: Bool { pages.lacksEnd }

    var itemCount: Int { items.count }

    /// The highest revision of an item, which need not be genuine.
    var lastRevision: UInt64 { items.values.lazy.map(\.revision).max() ?? 0 }

    /// The identifiers that the file may have.
    var identifiers: [[UInt8]] { headers.map(\.identifier) }

    /// The header for an identifier, with the slots that belong to it; nil if none of them opens a collection.
    func header(identifier: [UInt8]) throws(VaultError) -> CollectionHeader? {
        var header =
            headers.first { header in header.identifier == identifier } ?? headers.first
            ?? CollectionHeader(
                identifier: identifier,
                label: "",
                created: Timestamp(microsecondsSinceEpoch: 0),
                modified: Timestamp(microsecondsSinceEpoch: 0),
                indexKey: [],
                slots: []
            )
        header.identifier = identifier
        for (slot, checksum) in slots.sorted(by: { first, second in first.slot.id < second.slot.id }) {
            header.highestSlot = max(header.highestSlot, slot.id)
            guard try slot.check(in: identifier) == checksum else {
                header.damagedSlots += 1
                continue
            }
            // A copy in a page that is no longer used.
            guard !header.slots.contains(where: { other in other.id == slot.id }) else { continue }
            header.slots.append(slot)
        }
        return header.slots.contains(where: \.opensCollection) ? header : nil
    }

    /// The sealed state; empty, which opens with no key, if it is lost.
    func state() -> [UInt8] { states.first ?? [] }

    func forEachTags(_ body: (_ id: Int64, _ revision: UInt64, _ tags: UnsafeRawBufferPointer) -> Void) {
        for item in inOrder {
            let tags = item.content.bytes(item.tags, of: pages) ?? []
            tags.withUnsafeBytes { tags in body(item.id, item.revision, tags) }
        }
    }

    func forEachRow(
        secretsUpTo limit: Int,
        _ body: (CollectionFile.Row) throws(VaultError) -> Void
    ) throws(VaultError) {
        for item in inOrder {
            let tags = item.content.bytes(item.tags, of: pages) ?? []
            let metadata = item.content.bytes(item.metadata, of: pages) ?? []
            let secret = item.secret.count <= limit ? item.content.bytes(item.secret, of: pages) : nil
            try tags.withRawBytes { (tags) throws(VaultError) in
                try metadata.withRawBytes { (metadata) throws(VaultError) in
                    try (secret ?? []).withRawBytes { (bytes) throws(VaultError) in
                        try body(
                            CollectionFile.Row(
                                id: item.id,
                                revision: item.revision,
                                tags: tags,
                                metadata: metadata,
                                secret: secret == nil ? nil : bytes,
                                secretBytes: item.secret.count
                            )
                        )
                    }
                }
            }
        }
    }

    func secret(of id: ItemID) throws(VaultError) -> [UInt8] {
        guard let item = items[Int64(bitPattern: id.rawValue)],
            let secret = item.content.bytes(item.secret, of: pages)
        else { throw VaultError(.unreadable, reason: "the secret of item \(id) is lost: its page is damaged") }
        return secret
    }

    private var inOrder: [FoundItem] {
        items.values.sorted { first, second in first.id < second.id }
    }

    private func add(_ row: PageRows.Row) {
        guard total + row.content.size <= 2 * pages.count * pages.pageSize else { return }
        switch row.values.count {
        case 7: addHeader(row)
        case 5: addSlotOrItem(row)
        default: break
        }
    }

    private func addHeader(_ row: PageRows.Row) {
        guard case .bytes(let identifier) = row.values[1], case .bytes(let label) = row.values[2],
            case .integer(let created) = row.values[3], case .integer(let modified) = row.values[4],
            case .bytes(let indexKey) = row.values[5], case .bytes(let state) = row.values[6],
            identifier.count == CollectionFormat.identifierSize, headers.count < Self.maximumHeaders
        else { return }
        total += row.content.size
        func bytes(_ range: Range<Int>) -> [UInt8] { row.content.bytes(range, of: pages) ?? [] }
        headers.append(
            CollectionHeader(
                identifier: bytes(identifier),
                label: String(decoding: bytes(label), as: UTF8.self),
                created: Timestamp(microsecondsSinceEpoch: created),
                modified: Timestamp(microsecondsSinceEpoch: modified),
                indexKey: bytes(indexKey),
                slots: []
            )
        )
        states.append(bytes(state))
    }

    /// The two tables have columns of the same types; the checksum of a slot is shorter than any sealed secret.
    private func addSlotOrItem(_ row: PageRows.Row) {
        guard case .integer(let number) = row.values[1], case .bytes(let first) = row.values[2],
            case .bytes(let second) = row.values[3], case .bytes(let third) = row.values[4]
        else { return }
        if third.count == KeySlot.checksumSize {
            guard slots.count < 4 * CollectionFormat.maximumSlots,
                let parameters = row.content.bytes(first, of: pages),
                let wrapped = row.content.bytes(second, of: pages), let checksum = row.content.bytes(third, of: pages)
            else { return }
            total += row.content.size
            slots.append((KeySlot(id: row.id, kind: number, parameters: parameters, wrapped: wrapped), checksum))
        } else if third.count >= SecretsKey.overhead, first.count.isMultiple(of: 8) {
            guard first.count + second.count <= Self.maximumMetadata, third.count <= Self.maximumSecret else { return }
            // Each chain of pages belongs to one row, so that no file makes the daemon read one again and again.
            if row.content.overflow != 0, !chains.insert(row.content.overflow).inserted { return }
            let revision = UInt64(bitPattern: number)
            // A copy in a page that is no longer used is older.
            if let other = items[row.id], other.revision >= revision { return }
            total += row.content.size
            items[row.id] = FoundItem(
                id: row.id,
                revision: revision,
                tags: first,
                metadata: second,
                secret: third,
                content: row.content
            )
        }
    }

    /// The pages that the file lists as unused, as far as the list can be followed.
    private func freePages() -> Set<Int> {
        guard let first = pages[1] else { return [] }
        var free: Set<Int> = []
        var next = Int(first.integer(at: 32))
        while next > 1, next <= pages.count, free.insert(next).inserted, let trunk = pages[next] {
            let count = min(Int(trunk.integer(at: 4)), pages.usableSize / 4 - 2)
            for index in 0..<max(0, count) { free.insert(Int(trunk.integer(at: 8 + 4 * index))) }
            next = Int(trunk.integer(at: 0))
        }
        return free
    }
}

/// A collection's stored rows.
protocol CollectionSource: AnyObject {
    func state() throws(VaultError) -> [UInt8]

    func forEachTags(
        _ body: (_ id: Int64, _ revision: UInt64, _ tags: UnsafeRawBufferPointer) -> Void
    ) throws(VaultError)

    /// Calls `body` with each row, in ID order; secrets longer than `limit` bytes are not read.
    func forEachRow(
        secretsUpTo limit: Int,
        _ body: (CollectionFile.Row) throws(VaultError) -> Void
    ) throws(VaultError)

    func secret(of id: ItemID) throws(VaultError) -> [UInt8]
}

extension CollectionFile: CollectionSource {}
