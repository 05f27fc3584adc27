import KeychaindModel

/// Searches by attributes: the index gives candidates, and the attributes of their records decide.
extension ItemTable {
    /// Returns the item that a new one replaces (#94).
    ///
    /// Of the intact items with equal attributes, reserved ones aside: one with the requested access control, else a
    /// protected one, else the newest. So an open item cannot attract a secret that belongs into a protected one.
    /// The generic schema is none. A request that names no schema also equals items with any, after those without.
    /// Portal secrets are left out.
    ///
    /// - Parameters:
    ///   - others: attributes that the replaced item must have, reserved ones too.
    ///   - kept: items that are not replaced.
    func itemToReplace(
        _ attributes: Attributes,
        tags: [UInt64],
        having others: Attributes,
        except kept: Set<ItemID>
    ) -> ItemID? {
        var equal = equalItems(attributes, tags: tags)
        if !kept.isEmpty { equal.removeAll { kept.contains($0) } }
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

    /// Last modified first, those with a schema at the end if the attributes name none.
    private func equalItems(_ attributes: Attributes, tags: [UInt64]) -> [ItemID] {
        let key = attributes.compared
        // Every item matches no attributes; this avoids sorting them all.
        guard !key.isEmpty else {
            let positions = records.indices.lazy.filter { self.isIntact(at: $0, with: key) }.map(UInt32.init)
            return newestFirst(Array(positions))
        }
        let hits = search(key, tags: tags)
        let equal = hits.filter { id in position(of: id).map { isIntact(at: $0, with: key) } ?? false }
        guard attributes[Attributes.schema] == nil else { return equal }
        let others = hits.filter { id in
            guard let position = position(of: id) else { return false }
            let stored = records[position].metadata.attributes[Attributes.schema]
            return stored.map { isIntact(at: position, with: key.setting(Attributes.schema, to: $0)) } ?? false
        }
        return equal + others
    }

    /// The items with all of the attributes if at most one item has the attribute with this tag; nil if more have it,
    /// or if the other tags have to decide.
    func hits(_ attributes: Attributes, with tag: UInt64) -> [ItemID]? {
        switch index[tag] {
        case .none: return []
        case .many: return nil
        case .one(let position):
            let record = records[Int(position)]
            guard record.condition == .intact else { return nil }
            return record.metadata.attributes.matches(attributes) ? [record.id] : []
        }
    }

    /// Returns the items with all of the attributes, last modified first; items with unknown attributes match by tags.
    func search(_ attributes: Attributes, tags: [UInt64]) -> [ItemID] {
        var hits: [UInt32] = []
        if tags.isEmpty {
            hits = records.indices.lazy.filter { self.records[$0].condition != .deleted }.map(UInt32.init)
        } else {
            let lists = tags.map { tag in index[tag] }
            guard let shortest = lists.min(by: { first, second in first.count < second.count }) else { return [] }
            shortest.forEach { position in
                if matches(position, attributes, lists) { hits.append(position) }
            }
        }
        return newestFirst(hits)
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
        case .intact: records[Int(position)].metadata.attributes.matches(attributes)
        case .unread, .damaged: lists.allSatisfy { list in list.contains(position) }
        }
    }

    /// Whether an item has an attribute; if its attributes are unknown, the tag decides.
    func hasAttribute(_ attribute: Attributes, tag: UInt64, of id: ItemID) -> Bool {
        guard let position = position(of: id) else { return false }
        let record = records[position]
        return record.condition == .intact
            ? record.metadata.attributes.contains(all: attribute)
            : index[tag].contains(UInt32(position))
    }

    private func isIntact(at position: Int, with attributes: Attributes) -> Bool {
        let record = records[position]
        let stored = record.metadata.attributes
        return record.condition == .intact && !isDamaged(record.id) && stored.compared == attributes
            && stored[Attributes.portalApplication] == nil
    }

    /// The items at these positions, last modified first.
    private func newestFirst(_ positions: [UInt32]) -> [ItemID] {
        guard positions.count > 1 else { return positions.map { position in records[Int(position)].id } }
        // Sorting compares an item many times, and a table is too large for the processor's caches.
        var ages = positions.map { position in
            let record = records[Int(position)]
            return Age(modified: record.metadata.modified, revision: record.revision, id: record.id)
        }
        ages.sort { first, second in first.isNewer(than: second) }
        return ages.map(\.id)
    }

    /// An item with what its place among hits depends on.
    private struct Age {
        let modified: Timestamp
        let revision: UInt64
        let id: ItemID

        func isNewer(than other: Age) -> Bool {
            modified == other.modified ? revision > other.revision : modified > other.modified
        }
    }
}
