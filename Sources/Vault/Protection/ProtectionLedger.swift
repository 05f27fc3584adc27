import KeychainModel

/// What is known of the protected items of a collection beside its file.
///
/// It lies in `state.db`, sealed under the collection's metadata key. Whoever puts an older file or an older row back leaves it as it
/// is: so items that were protected since are still known as such.
///
/// Encoded: 1 (1), revision (8), next item (8), then for each item what is known (1: 1 it is protected, 2 it is in doubt) and its
/// number (8); if it is protected also since which revision (8), the length of its attributes (4) and these, packed.
struct ProtectionLedger: Equatable, Sendable {
    /// What is known of an item.
    enum Mark: Equatable, Sendable {
        /// It is protected since a revision, with these reserved attributes.
        case protected(since: UInt64, Attributes)

        /// It may have been protected: the file was changed by somebody without its key, and nothing was known of it.
        case doubtful
    }

    private static let version: UInt8 = 1

    /// How many deleted items are remembered.
    private static let deletedItems = 4096

    /// A revision that the file has reached.
    var revision: UInt64 = 0

    /// The number of the next new item at that time.
    var nextItem: UInt64 = 1

    /// What is known of the items, those that were deleted among them.
    var marks: [ItemID: Mark] = [:]

    /// Knows nothing.
    init() {}

    /// The encoded form.
    var encoded: [UInt8] {
        var bytes = [Self.version]
        bytes.append(bigEndian: revision)
        bytes.append(bigEndian: nextItem)
        for (id, mark) in marks {
            switch mark {
            case .protected(let since, let attributes):
                bytes.append(1)
                bytes.append(bigEndian: id.rawValue)
                bytes.append(bigEndian: since)
                bytes.append(bigEndian: UInt32(clamping: attributes.packed.count))
                bytes += attributes.packed
            case .doubtful:
                bytes.append(2)
                bytes.append(bigEndian: id.rawValue)
            }
        }
        return bytes
    }

    /// Reads the encoded form; nil when it has another form.
    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard reader.integer(UInt8.self) == Self.version, let revision = reader.integer(UInt64.self),
            let nextItem = reader.integer(UInt64.self)
        else { return nil }
        self.revision = revision
        self.nextItem = nextItem
        while !reader.remaining.isEmpty {
            guard let kind = reader.integer(UInt8.self), let number = reader.integer(UInt64.self),
                let id = ItemID(rawValue: number)
            else { return nil }
            switch kind {
            case 1:
                guard let since = reader.integer(UInt64.self), let length = reader.integer(UInt32.self),
                    let attributes = reader.bytes(Int(length)).flatMap(Attributes.init(validating:))
                else { return nil }
                marks[id] = .protected(since: since, attributes)
            case 2: marks[id] = .doubtful
            default: return nil
            }
        }
    }

    /// The first number that no item has had, as far as is known.
    var unusedItem: UInt64 {
        max(nextItem, (marks.keys.max()?.rawValue ?? 0) &+ 1)
    }

    /// What has to be known before rows are written; nil if it is.
    func strengthened(by rows: [RowChange]) -> ProtectionLedger? {
        changed(by: rows) { old, new in new != nil && !Self.weakens(old, to: new) }
    }

    /// What is known after rows were written; nil if it is already.
    func weakened(by rows: [RowChange]) -> ProtectionLedger? {
        changed(by: rows, where: Self.weakens)
    }

    /// Forgets the items that were deleted long ago, if they are many.
    mutating func forgetDeleted(_ exists: (ItemID) -> Bool) {
        guard marks.count > Self.deletedItems else { return }
        let deleted = marks.keys.filter { id in !exists(id) }
        // Numbers only rise, so the lowest are the oldest.
        for id in deleted.sorted().dropLast(Self.deletedItems) { marks[id] = nil }
    }

    private func changed(
        by rows: [RowChange],
        where isWanted: (_ old: Mark?, _ new: Attributes?) -> Bool
    ) -> ProtectionLedger? {
        var changed = self
        for case .insert(let row) in rows { changed.note(row, where: isWanted) }
        for case .update(let row, _) in rows { changed.note(row, where: isWanted) }
        return changed == self ? nil : changed
    }

    private mutating func note(_ row: ItemRow, where isWanted: (_ old: Mark?, _ new: Attributes?) -> Bool) {
        let old = marks[row.id]
        let new = row.metadata.attributes.protection
        switch (old, new) {
        case (nil, nil): return
        // It is protected since then, and not only since now.
        case (.protected(_, let attributes), let new?) where attributes == new: return
        case _ where isWanted(old, new):
            marks[row.id] = new.map { attributes in .protected(since: row.revision, attributes) }
        default: return
        }
    }

    /// Whether a change takes protection off, or key material.
    private static func weakens(_ old: Mark?, to new: Attributes?) -> Bool {
        switch (old, new) {
        case (nil, _), (.doubtful, .some): false
        case (.some, nil): true
        case (.protected(_, let old), let new?):
            ItemProtection(of: old).keyAlternatives != nil && ItemProtection(of: new).keyAlternatives == nil
        }
    }
}

extension Attributes {
    /// The names that say who may have an item, and what it is bound to.
    private static let protectionNames = [
        ReservedAttribute.accessControl.rawValue, ReservedAttribute.accessible.rawValue,
        ReservedAttribute.synchronizable.rawValue, reservedPrefix + "biometry-set",
    ]

    /// Those that say who may have the item; nil if nobody has to be authenticated for it.
    var protection: Attributes? {
        guard hasReserved, ItemProtection(of: self).needsAuthentication else { return nil }
        return Attributes(Self.protectionNames.compactMap { name in self[name].map { value in (name, value) } })
    }

    /// These with what others say about who may have the item.
    func withProtection(_ others: Attributes) -> Attributes {
        Self.protectionNames.reduce(self) { attributes, name in attributes.setting(name, to: others[name]) }
    }
}
