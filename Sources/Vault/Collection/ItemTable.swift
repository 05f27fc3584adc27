import KeychainModel

/// The items of a collection in memory, in the order of their numbers, and the index over their attributes.
///
/// New numbers only rise, so new items go to the end and an item is found by bisection. A deleted item leaves its cell until
/// half of the cells are such; so positions, which the index holds, change seldom.
struct ItemTable: Sendable {
    private var records: [ItemRecord] = []
    private var index = AttributeIndex()
    private var damages: [ItemID: Damage] = [:]
    private var deletedCount = 0
    private var protections: [ItemID: ItemProtection] = [:]

    /// What is known of an item that is not what was written.
    private struct Damage {
        let reason: String
        // The stored tags of an item whose attributes are not known.
        let tags: [UInt64]?
    }

    /// How many items there are.
    var count: Int { records.count - deletedCount }

    /// The numbers of all items, rising.
    var ids: [ItemID] {
        var ids: [ItemID] = []
        ids.reserveCapacity(count)
        for record in records where record.condition != .deleted { ids.append(record.id) }
        return ids
    }

    /// Whether some item says who may have it.
    var hasProtectedItems: Bool { !protections.isEmpty }

    /// How many items take an authentication.
    var protectedCount: Int { protections.values.count(where: \.needsAuthentication) }

    /// What an item says about who may have it, as far as it has been read.
    func protection(of id: ItemID) -> ItemProtection {
        guard !protections.isEmpty else { return .none }
        return protections[id] ?? .none
    }

    /// Has an item be protected in another way than its attributes say, until it is written anew.
    mutating func impose(_ protection: ItemProtection, on id: ItemID) {
        protections[id] = protection
    }

    /// How many items are damaged.
    var damagedCount: Int { damages.count }

    /// Makes room for a number of items.
    mutating func reserve(items: Int) {
        records.reserveCapacity(items)
    }

    /// Whether all items have been filled in or have been there from the start.
    func isFull(at position: Int) -> Bool {
        position == records.count
    }

    /// The record of an item; nil when there is none.
    subscript(id: ItemID) -> ItemRecord? {
        position(of: id).map { position in records[position] }
    }

    /// Whether there is an item of that number.
    func contains(_ id: ItemID) -> Bool {
        position(of: id) != nil
    }

    /// What it takes to open the secret of an item.
    struct SealedSecret {
        let condition: ItemRecord.Condition
        /// The revision that the secret was sealed at.
        let revision: UInt64
        /// Whether the item has a key of its own.
        let hasKey: Bool
        /// Nil when it is not in memory.
        let bytes: [UInt8]?
    }

    /// The sealed secret of an item; nil when there is none.
    ///
    /// Label and attributes are not touched, not even to count references: they lie elsewhere, in memory that is mostly not cached.
    func sealedSecret(of id: ItemID) -> SealedSecret? {
        guard let position = position(of: id) else { return nil }
        return SealedSecret(
            condition: records[position].condition,
            revision: records[position].metadata.secretRevision,
            hasKey: records[position].metadata.wraps != nil,
            bytes: records[position].sealedSecret
        )
    }

    /// What can be told of an item; nil when there is none.
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

    /// The highest number of an item, be it one that has been deleted; nil when there is none.
    var highestID: ItemID? { records.last?.id }

    /// The revision of the last change of an item, as far as items say.
    var lastRevision: UInt64 { records.lazy.map(\.revision).max() ?? 0 }

    /// Whether an item of that number can be added: one above all others.
    func accepts(_ id: ItemID) -> Bool {
        (highestID.map { highest in highest < id } ?? true) && records.count <= Int(AttributeIndex.maximumPosition)
    }

    /// When an item was last changed; nil when there is none.
    func modified(of id: ItemID) -> Timestamp? {
        position(of: id).map { position in records[position].metadata.modified }
    }

    /// Adds an item that the table ``accepts(_:)``; any other is left out.
    mutating func append(_ record: ItemRecord, tags: some Sequence<UInt64>) {
        guard accepts(record.id) else { return }
        let position = UInt32(records.count)
        records.append(record)
        noteProtection(of: record)
        for tag in tags { index.insert(position, for: tag) }
    }

    /// Puts what has been read of an item in the place of what was known before, without a change of its tags.
    ///
    /// - Parameter position: the item's place among all items; false when another item is there.
    mutating func fill(_ record: ItemRecord, at position: Int) -> Bool {
        guard position < records.count, records[position].id == record.id else { return false }
        records[position] = record
        noteProtection(of: record)
        return true
    }

    /// Puts a record in the place of an item's earlier one.
    mutating func replace(_ record: ItemRecord, oldTags: [UInt64], newTags: [UInt64]) {
        guard let position = position(of: record.id) else { return }
        records[position] = record
        noteProtection(of: record)
        guard oldTags != newTags else { return }
        for tag in oldTags { index.remove(UInt32(position), for: tag) }
        for tag in newTags { index.insert(UInt32(position), for: tag) }
    }

    /// Takes an item out.
    mutating func remove(_ id: ItemID, tags: [UInt64]) {
        guard let position = position(of: id) else { return }
        for tag in tags { index.remove(UInt32(position), for: tag) }
        records[position] = ItemRecord(id: id, revision: 0, condition: .deleted)
        damages[id] = nil
        protections[id] = nil
        deletedCount += 1
        if deletedCount > 64, deletedCount * 2 > records.count { compact() }
    }

    /// Notes that what is stored of an item is not what was written.
    ///
    /// - Parameter tags: the stored tags, when the attributes are not known; the item is still found by them.
    mutating func markDamaged(_ id: ItemID, reason: String, tags: [UInt64]? = nil) {
        guard position(of: id) != nil, damages[id] == nil else { return }
        damages[id] = Damage(reason: reason, tags: tags)
    }

    /// Whether an item is known to be damaged.
    func isDamaged(_ id: ItemID) -> Bool {
        damages[id] != nil
    }

    /// The tags that a damaged item is found by, when its attributes are not known.
    func storedTags(of id: ItemID) -> [UInt64]? {
        damages[id]?.tags
    }

    /// The item that a new one with these attributes replaces (#94): of the intact ones whose attributes are equal, reserved names
    /// aside, one with the access control that is asked for, else a protected one, else the newest.
    ///
    /// So nobody attracts what belongs into a protected item by making an open one with the same attributes.
    ///
    /// - Parameter tags: those of the attributes without reserved names.
    func itemToReplace(_ attributes: Attributes, tags: [UInt64]) -> ItemID? {
        let key = attributes.withoutReserved
        let equal = equalItems(key, tags: tags)
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

    /// The intact items whose attributes, reserved names aside, are exactly these, the last modified first.
    private func equalItems(_ key: Attributes, tags: [UInt64]) -> [ItemID] {
        // Every item has all of no attributes, so that a search would be sorted for nothing.
        guard !key.isEmpty else {
            let positions = records.indices.lazy.filter { self.isIntact(at: $0, with: key) }.map(UInt32.init)
            return positions.sorted(by: isNewer).map { records[Int($0)].id }
        }
        return search(key, tags: tags).filter { id in
            position(of: id).map { isIntact(at: $0, with: key) } ?? false
        }
    }

    /// The items that have all of the attributes, the last modified first; all items when there are no attributes.
    ///
    /// An item whose attributes are not known counts when its tags are those of the attributes.
    func search(_ attributes: Attributes, tags: [UInt64]) -> [ItemID] {
        var hits: [UInt32] = []
        if tags.isEmpty {
            hits.reserveCapacity(count)
            for position in records.indices where records[position].condition != .deleted {
                hits.append(UInt32(position))
            }
        } else {
            let lists = tags.map { tag in index[tag] }
            guard let shortest = lists.min(by: { first, second in first.count < second.count }) else { return [] }
            shortest.forEach { position in
                let record = records[Int(position)]
                guard record.condition != .deleted else { return }
                let matches =
                    record.condition == .intact
                    ? record.metadata.attributes.contains(all: attributes)
                    : lists.allSatisfy { list in list.contains(position) }
                if matches { hits.append(position) }
            }
        }
        if hits.count > 1 { hits.sort(by: isNewer) }
        return hits.map { position in records[Int(position)].id }
    }

    private mutating func noteProtection(of record: ItemRecord) {
        let protection = ItemProtection(of: record.metadata.attributes)
        // Most items say nothing, and in most collections all: then the dictionary is not even looked into.
        if protection != .none {
            protections[record.id] = protection
        } else if !protections.isEmpty {
            protections[record.id] = nil
        }
    }

    private func isIntact(at position: Int, with attributes: Attributes) -> Bool {
        let record = records[position]
        return record.condition == .intact && damages[record.id] == nil
            && record.metadata.attributes.withoutReserved == attributes
    }

    private func isNewer(_ first: UInt32, _ second: UInt32) -> Bool {
        let first = records[Int(first)]
        let second = records[Int(second)]
        if first.metadata.modified != second.metadata.modified {
            return first.metadata.modified > second.metadata.modified
        }
        return first.revision > second.revision
    }

    private func position(of id: ItemID) -> Int? {
        // Numbers start at 1 and rise, so an item lies at its number less one, or before: there as long as no item was deleted.
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
