import KeychaindModel

/// The items of a collection in memory, in ID order, with the index of their attributes.
///
/// IDs only rise, so new items are appended and lookup is a binary search. A deleted item leaves its record until half
/// of the records are deleted, so the positions in the index seldom change.
struct ItemTable: Sendable {
    private var records: [ItemRecord] = []
    private var index = AttributeIndex()
    private var damages: [ItemID: Damage] = [:]
    private var deletedCount = 0
    private var protections: [ItemID: ItemProtection] = [:]

    private struct Damage {
        let reason: String
        // The stored tags of an item whose attributes are unknown.
        let tags: [UInt64]?
    }

    var count: Int { records.count - deletedCount }

    var ids: [ItemID] {
        var ids: [ItemID] = []
        ids.reserveCapacity(count)
        for record in records where record.condition != .deleted { ids.append(record.id) }
        return ids
    }

    var hasProtectedItems: Bool { !protections.isEmpty }

    /// The number of items that need authentication.
    var protectedCount: Int { protections.values.count(where: \.needsAuthentication) }

    func protection(of id: ItemID) -> ItemProtection {
        guard !protections.isEmpty else { return .none }
        return protections[id] ?? .none
    }

    /// Overrides the protection of an item until it is written again.
    mutating func impose(_ protection: ItemProtection, on id: ItemID) {
        protections[id] = protection
    }

    var damagedCount: Int { damages.count }

    mutating func reserve(items: Int) {
        records.reserveCapacity(items)
        // Most items have an attribute of their own.
        index.reserve(tags: items)
    }

    func isFull(at position: Int) -> Bool {
        position == records.count
    }

    subscript(id: ItemID) -> ItemRecord? {
        position(of: id).map { position in records[position] }
    }

    func contains(_ id: ItemID) -> Bool {
        position(of: id) != nil
    }

    func revision(of id: ItemID) -> ItemRevision? {
        position(of: id).map { position in
            ItemRevision(
                item: id,
                number: records[position].revision,
                secret: records[position].metadata.secretRevision
            )
        }
    }

    struct SealedSecret {
        let condition: ItemRecord.Condition
        let revision: UInt64
        let hasKey: Bool
        /// Nil when it is not in memory.
        let bytes: ArraySlice<UInt8>?
    }

    /// Returns the sealed secret of an item; nil when there is none.
    func sealedSecret(of id: ItemID) -> SealedSecret? {
        guard let position = position(of: id) else { return nil }
        return SealedSecret(
            condition: records[position].condition,
            revision: records[position].metadata.secretRevision,
            hasKey: records[position].metadata.wraps != nil,
            bytes: records[position].sealedSecret
        )
    }

    func item(_ id: ItemID) -> Item? {
        guard let position = position(of: id) else { return nil }
        let record = records[position]
        let condition: Item.Condition =
            switch record.condition {
            case .unread: .unread
            case .intact where damages.isEmpty: .intact
            case .damaged, .deleted: .damaged(reason: damages[id]?.reason ?? "unknown")
            case .intact: damages[id].map { damage in .damaged(reason: damage.reason) } ?? .intact
            }
        return Item(
            id: id,
            label: record.metadata.label,
            attributes: record.metadata.attributes,
            created: record.metadata.created,
            modified: record.metadata.modified,
            condition: condition
        )
    }

    func attributes(of id: ItemID) -> Attributes? {
        position(of: id).map { position in records[position].metadata.attributes }
    }

    // A whole record is slow to copy.
    var highestID: ItemID? { records.isEmpty ? nil : records[records.count - 1].id }

    var lastRevision: UInt64 { records.lazy.map(\.revision).max() ?? 0 }

    func accepts(_ id: ItemID) -> Bool {
        (highestID.map { highest in highest < id } ?? true) && records.count <= Int(AttributeIndex.maximumPosition)
    }

    func created(of id: ItemID) -> Timestamp? {
        guard let position = position(of: id), records[position].condition != .unread else { return nil }
        return records[position].metadata.created
    }

    func modified(of id: ItemID) -> Timestamp? {
        position(of: id).map { position in records[position].metadata.modified }
    }

    /// Appends an item if ``accepts(_:)`` allows it.
    mutating func append(_ record: ItemRecord, tags: some Sequence<UInt64>) {
        guard accepts(record.id) else { return }
        let position = UInt32(records.count)
        records.append(record)
        if record.condition != .unread { noteProtection(of: record) }
        for tag in tags { index.insert(position, for: tag) }
    }

    /// Replaces a record by a loaded one with the same tags; false when another item is at that position.
    mutating func fill(_ record: ItemRecord, at position: Int) -> Bool {
        guard position < records.count, records[position].id == record.id else { return false }
        records[position] = record
        noteProtection(of: record)
        return true
    }

    /// Replaces all records by loaded ones with the same tags; false when others are in the table.
    ///
    /// - Parameter protections: those of the loaded records, without items that have none.
    mutating func fill(_ loaded: [ItemRecord], protections: [ItemID: ItemProtection]) -> Bool {
        guard loaded.count == records.count else { return false }
        for position in records.indices where records[position].id != loaded[position].id { return false }
        records = loaded
        self.protections = protections
        return true
    }

    mutating func replace(_ record: ItemRecord, oldTags: [UInt64], newTags: [UInt64]) {
        guard let position = position(of: record.id) else { return }
        records[position] = record
        noteProtection(of: record)
        guard oldTags != newTags else { return }
        for tag in oldTags { index.remove(UInt32(position), for: tag) }
        for tag in newTags { index.insert(UInt32(position), for: tag) }
    }

    mutating func remove(_ id: ItemID, tags: [UInt64]) {
        guard let position = position(of: id) else { return }
        for tag in tags { index.remove(UInt32(position), for: tag) }
        records[position] = ItemRecord(id: id, revision: 0, condition: .deleted)
        damages[id] = nil
        protections[id] = nil
        deletedCount += 1
        if deletedCount > 64, deletedCount * 2 > records.count { compact() }
    }

    /// - Parameter tags: the stored tags, which searches use if the attributes are unknown.
    mutating func markDamaged(_ id: ItemID, reason: String, tags: [UInt64]? = nil) {
        guard position(of: id) != nil, damages[id] == nil else { return }
        damages[id] = Damage(reason: reason, tags: tags)
    }

    func isDamaged(_ id: ItemID) -> Bool {
        damages[id] != nil
    }

    func storedTags(of id: ItemID) -> [UInt64]? {
        damages[id]?.tags
    }

    /// Returns the item that a new one replaces (#94).
    ///
    /// Of the intact items with equal attributes, reserved ones aside: one with the requested access control, else a
    /// protected one, else the newest. So an open item cannot attract a secret that belongs into a protected one.
    /// Attributes without a schema also equal those with any, after those without. Portal secrets are left out.
    ///
    /// - Parameter others: attributes that the replaced item must have, reserved ones too.
    func itemToReplace(_ attributes: Attributes, tags: [UInt64], having others: Attributes) -> ItemID? {
        let key = attributes.withoutReserved
        var equal = equalItems(key, tags: tags)
        if !others.isEmpty {
            equal.removeAll { id in
                position(of: id).map { !records[$0].metadata.attributes.contains(all: others) } ?? true
            }
        }
        guard hasProtectedItems, let newest = equal.first else { return equal.first }
        let wanted = ItemProtection(of: attributes).policy
        var protected: ItemID?
        for id in equal {
            let protection = protection(of: id)
            guard protection.needsAuthentication else { continue }
            if wanted != nil, protection.policy == wanted { return id }
            protected = protected ?? id
        }
        return protected ?? newest
    }

    /// Last modified first, those with a schema that the key lacks at the end.
    private func equalItems(_ key: Attributes, tags: [UInt64]) -> [ItemID] {
        // Every item matches no attributes; this avoids sorting them all.
        guard !key.isEmpty else {
            let positions = records.indices.lazy.filter { self.isIntact(at: $0, with: key) }.map(UInt32.init)
            return newestFirst(Array(positions))
        }
        let hits = search(key, tags: tags)
        let equal = hits.filter { id in position(of: id).map { isIntact(at: $0, with: key) } ?? false }
        guard key[Attributes.schema] == nil else { return equal }
        let others = hits.filter { id in
            guard let position = position(of: id) else { return false }
            let stored = records[position].metadata.attributes[Attributes.schema]
            return stored.map { isIntact(at: position, with: key.setting(Attributes.schema, to: $0)) } ?? false
        }
        return equal + others
    }

    /// The items with all of the attributes if at most one item has the attribute with this tag; nil if more have it,
    /// or if only the other tags tell.
    func hits(_ attributes: Attributes, with tag: UInt64) -> [ItemID]? {
        switch index[tag] {
        case .none: return []
        case .many: return nil
        case .one(let position):
            let record = records[Int(position)]
            guard record.condition == .intact else { return nil }
            return record.metadata.attributes.contains(all: attributes) ? [record.id] : []
        }
    }

    /// Returns the items with all of the attributes, last modified first; items with unknown attributes match by tags.
    func search(_ attributes: Attributes, tags: [UInt64]) -> [ItemID] {
        var hits: [UInt32] = []
        if tags.isEmpty {
            hits = positions
        } else {
            let lists = tags.map { tag in index[tag] }
            guard let shortest = lists.min(by: { first, second in first.count < second.count }) else { return [] }
            shortest.forEach { position in
                if matches(position, attributes, lists) { hits.append(position) }
            }
        }
        return newestFirst(hits)
    }

    /// The positions of all items.
    private var positions: [UInt32] {
        var positions: [UInt32] = []
        positions.reserveCapacity(count)
        for position in records.indices where records[position].condition != .deleted {
            positions.append(UInt32(position))
        }
        return positions
    }

    /// - Parameter lists: the items with the tag of each attribute.
    private func matches(
        _ position: UInt32,
        _ attributes: Attributes,
        _ lists: [AttributeIndex.Postings]
    ) -> Bool {
        // Not the whole record: counting references would touch memory that is rarely cached.
        switch records[Int(position)].condition {
        case .deleted: false
        case .intact: records[Int(position)].metadata.attributes.contains(all: attributes)
        case .unread, .damaged: lists.allSatisfy { list in list.contains(position) }
        }
    }

    // MARK: Searching in parts

    /// A search under way; it belongs to the table as it was at the start.
    struct PartialSearch {
        fileprivate let attributes: Attributes
        fileprivate let lists: [AttributeIndex.Postings]
        fileprivate let candidates: [UInt32]
        fileprivate var next = 0
        fileprivate var hits: [UInt32] = []
    }

    /// The number of items that ``search(_:tags:)`` looks at.
    func candidateCount(tags: [UInt64]) -> Int {
        tags.isEmpty ? count : tags.lazy.map { tag in index[tag].count }.min() ?? 0
    }

    func beginSearch(_ attributes: Attributes, tags: [UInt64]) -> PartialSearch {
        let lists = tags.map { tag in index[tag] }
        let shortest = lists.min { first, second in first.count < second.count }
        return PartialSearch(attributes: attributes, lists: lists, candidates: shortest?.positions ?? positions)
    }

    /// Looks at some more items; returns the hits, last modified first, once it has seen all.
    func goOn(_ search: inout PartialSearch, by count: Int) -> [ItemID]? {
        let end = min(search.next + count, search.candidates.count)
        for position in search.candidates[search.next..<end] where matches(position, search.attributes, search.lists) {
            search.hits.append(position)
        }
        search.next = end
        return end < search.candidates.count ? nil : newestFirst(search.hits)
    }

    /// Whether an item has an attribute; of an item with unknown attributes the tag tells.
    func hasAttribute(_ attribute: Attributes, tag: UInt64, of id: ItemID) -> Bool {
        guard let position = position(of: id) else { return false }
        let record = records[position]
        return record.condition == .intact
            ? record.metadata.attributes.contains(all: attribute)
            : index[tag].contains(UInt32(position))
    }

    private mutating func noteProtection(of record: ItemRecord) {
        let protection = ItemProtection(of: record.metadata.attributes)
        // Most collections have no protected items, and never touch the dictionary.
        if protection != .none {
            protections[record.id] = protection
        } else if !protections.isEmpty {
            protections[record.id] = nil
        }
    }

    private func isIntact(at position: Int, with attributes: Attributes) -> Bool {
        let record = records[position]
        let stored = record.metadata.attributes
        return record.condition == .intact && damages[record.id] == nil && stored.withoutReserved == attributes
            && stored[Attributes.portalApplication] == nil
    }

    /// The items at these positions, last modified first.
    private func newestFirst(_ positions: [UInt32]) -> [ItemID] {
        guard positions.count > 1 else { return positions.map { position in records[Int(position)].id } }
        // Sorting compares an item many times, and a table is too large for the processor's caches.
        var ages = positions.map { position in
            let position = Int(position)
            return Age(
                modified: records[position].metadata.modified,
                revision: records[position].revision,
                id: records[position].id
            )
        }
        ages.sort { first, second in first.isNewer(than: second) }
        return ages.map(\.id)
    }

    private struct Age {
        let modified: Timestamp
        let revision: UInt64
        let id: ItemID

        func isNewer(than other: Age) -> Bool {
            modified == other.modified ? revision > other.revision : modified > other.modified
        }
    }

    private func position(of id: ItemID) -> Int? {
        // IDs start at 1 and rise, so without deletions an item is at position ID - 1, otherwise before it.
        var high = Int(min(UInt64(records.count), id.rawValue))
        if high > 0, records[high - 1].id == id { return records[high - 1].condition == .deleted ? nil : high - 1 }
        var low = 0
        while low < high {
            let middle = (low + high) / 2
            if records[middle].id < id { low = middle + 1 } else { high = middle }
        }
        guard low < records.count, records[low].id == id, records[low].condition != .deleted else { return nil }
        return low
    }

    private mutating func compact() {
        var positions = [UInt32](repeating: 0, count: records.count)
        var kept = 0
        for position in records.indices {
            positions[position] = UInt32(kept)
            if records[position].condition != .deleted {
                if kept != position { records[kept] = records[position] }
                kept += 1
            }
        }
        records.removeSubrange(kept...)
        index.move(positions)
        deletedCount = 0
    }
}
