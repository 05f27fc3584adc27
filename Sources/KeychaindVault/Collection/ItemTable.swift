import KeychaindModel

/// The items of a collection in memory, in ID order, with the index of their attributes.
///
/// IDs only rise, so new items are appended and lookup is a binary search. A deleted item leaves its record until half
/// of the records are deleted, so the positions in the index seldom change.
struct ItemTable: Sendable {
    private(set) var records: [ItemRecord] = []
    private(set) var index = AttributeIndex()
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

    func protection(of id: ItemID) -> ItemProtection {
        guard !protections.isEmpty else { return .none }
        return protections[id] ?? .none
    }

    /// Overrides the protection of an item until it is written again.
    mutating func impose(_ protection: ItemProtection, on id: ItemID) {
        protections[id] = protection
    }

    mutating func reserve(items: Int) {
        records.reserveCapacity(items)
        // Most items have an attribute of their own.
        index.reserve(tags: items)
    }

    subscript(id: ItemID) -> ItemRecord? {
        position(of: id).map { position in records[position] }
    }

    @inline(__always)
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
    @inline(__always)
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
    ///
    /// - Parameter protection: that of its attributes, if it is known.
    mutating func append(
        _ record: ItemRecord,
        _ protection: ItemProtection? = nil,
        tags: some Sequence<UInt64>
    ) {
        guard accepts(record.id) else { return }
        let position = UInt32(records.count)
        records.append(record)
        if record.condition != .unread { note(protection, of: record) }
        for tag in tags { index.insert(position, for: tag) }
    }

    /// Replaces a record by a loaded one with the same tags; false when another item is at that position.
    mutating func fill(_ record: ItemRecord, at position: Int) -> Bool {
        guard position < records.count, records[position].id == record.id else { return false }
        records[position] = record
        note(nil, of: record)
        return true
    }

    mutating func replace(
        _ record: ItemRecord,
        _ protection: ItemProtection? = nil,
        oldTags: [UInt64],
        newTags: [UInt64]
    ) {
        guard let position = position(of: record.id) else { return }
        records[position] = record
        note(protection, of: record)
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

    /// Counts all items as intact.
    mutating func forgetDamages() { damages = [:] }

    func isDamaged(_ id: ItemID) -> Bool {
        damages[id] != nil
    }

    func storedTags(of id: ItemID) -> [UInt64]? {
        damages[id]?.tags
    }

    private mutating func note(_ protection: ItemProtection?, of record: ItemRecord) {
        let protection = protection ?? ItemProtection(of: record.metadata.attributes)
        // Most collections have no protected items, and never touch the dictionary.
        if protection != .none {
            protections[record.id] = protection
        } else if !protections.isEmpty {
            protections[record.id] = nil
        }
    }

    // Inlined, as a call would copy the table.
    @inline(__always)
    func position(of id: ItemID) -> Int? {
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
