import KeychaindModel

/// A record of a collection's protected items, stored beside its file.
///
/// It is in `state`, sealed under the metadata key. A rollback of the file or a row leaves it unchanged, so items
/// protected later are still known.
///
/// Encoding: 1 (1), revision (8), next item ID (8), then per item: mark (1; 1 protected, 2 doubtful), ID (8), and if
/// protected: revision (8), length of the attributes (4), packed attributes. Among them, after a restore: 3 (1),
/// revision (8) and hash (32) of the restored state; and per item that is unprotected in it: 4 (1), ID (8), revision
/// (8).
struct ProtectionLedger: Equatable, Sendable {
    enum Mark: Equatable, Sendable {
        /// Protected since a revision, with these reserved attributes.
        case protected(since: UInt64, Attributes)

        /// Possibly protected: the file was changed without its key, and there was no ledger.
        case doubtful
    }

    private static let version: UInt8 = 1
    private static let deletedItems = 4096

    /// A revision that the file has reached.
    var revision: UInt64 = 0

    var nextItem: UInt64 = 1

    /// The marks, including those of deleted items.
    var marks: [ItemID: Mark] = [:]

    /// The state of the file, below ``revision``, that a person has restored; nil after its next change.
    var restoredState: RestoredState?

    /// The revisions of the items that a person has restored without their protection, until they change.
    var restoredItems: [ItemID: UInt64] = [:]

    init() {}

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
        if let restoredState {
            bytes.append(3)
            bytes.append(bigEndian: restoredState.revision)
            bytes += restoredState.hash
        }
        for (id, revision) in restoredItems {
            bytes.append(4)
            bytes.append(bigEndian: id.rawValue)
            bytes.append(bigEndian: revision)
        }
        return bytes
    }

    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = FieldReader(bytes)
        guard reader.integer(UInt8.self) == Self.version, let revision = reader.integer(UInt64.self),
            let nextItem = reader.integer(UInt64.self)
        else { return nil }
        self.revision = revision
        self.nextItem = nextItem
        while !reader.remaining.isEmpty {
            guard let kind = reader.integer(UInt8.self), let number = reader.integer(UInt64.self) else { return nil }
            if kind == 3 {
                guard let hash = reader.bytes(RestoredState.hashSize) else { return nil }
                restoredState = RestoredState(revision: number, hash: Array(hash))
                continue
            }
            guard let id = ItemID(rawValue: number) else { return nil }
            switch kind {
            case 1:
                guard let since = reader.integer(UInt64.self), let length = reader.integer(UInt32.self),
                    let attributes = reader.bytes(Int(length)).flatMap(Attributes.init(validating:))
                else { return nil }
                marks[id] = .protected(since: since, attributes)
            case 2: marks[id] = .doubtful
            case 4:
                guard let revision = reader.integer(UInt64.self) else { return nil }
                restoredItems[id] = revision
            default: return nil
            }
        }
    }

    /// The lowest ID that is certainly unused.
    var unusedItem: UInt64 {
        max(nextItem, (marks.keys.max()?.rawValue ?? 0) &+ 1)
    }

    /// Returns the ledger to store before rows are written; nil if it is unchanged.
    func strengthened(by rows: [RowChange]) -> ProtectionLedger? {
        changed(by: rows) { old, new in new != nil && !Self.weakens(old, to: new) }
    }

    /// Returns the ledger to store after rows were written; nil if it is unchanged.
    func weakened(by rows: [RowChange]) -> ProtectionLedger? {
        changed(by: rows, where: Self.weakens)
    }

    /// Forgets the oldest deleted items when there are many.
    mutating func forgetDeleted(_ exists: (ItemID) -> Bool) {
        guard marks.count > Self.deletedItems else { return }
        let deleted = marks.keys.filter { id in !exists(id) }
        // IDs only rise, so the lowest are the oldest.
        for id in deleted.sorted().dropLast(Self.deletedItems) { marks[id] = nil }
    }

    private func changed(
        by rows: [RowChange],
        where isWanted: (_ old: Mark?, _ new: Attributes?) -> Bool
    ) -> ProtectionLedger? {
        var changed = self
        for case .insert(let row) in rows { changed.note(row, where: isWanted) }
        for case .update(let row) in rows { changed.note(row, where: isWanted) }
        return changed == self ? nil : changed
    }

    private mutating func note(_ row: ItemRow, where isWanted: (_ old: Mark?, _ new: Attributes?) -> Bool) {
        let old = marks[row.id]
        let new = row.protection.needsAuthentication ? row.metadata.attributes.statedProtection : nil
        switch (old, new) {
        case (nil, nil): return
        // The item has had this protection since the marked revision.
        case (.protected(_, let attributes), let new?) where attributes == new: return
        case _ where isWanted(old, new):
            marks[row.id] = new.map { attributes in .protected(since: row.revision, attributes) }
        default: return
        }
    }

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
    private static let protectionNames = [
        ReservedAttribute.accessControl.rawValue, ReservedAttribute.accessible.rawValue,
        ReservedAttribute.synchronizable.rawValue, reservedPrefix + "biometry-set",
    ]

    /// The protection attributes; nil if the item needs no authentication.
    var protection: Attributes? {
        hasReserved && ItemProtection(of: self).needsAuthentication ? statedProtection : nil
    }

    /// The protection attributes.
    fileprivate var statedProtection: Attributes {
        Attributes(Self.protectionNames.compactMap { name in self[name].map { value in (name, value) } })
    }

    func withProtection(_ others: Attributes) -> Attributes {
        Self.protectionNames.reduce(self) { attributes, name in attributes.setting(name, to: others[name]) }
    }
}

/// The state of a file that a person has restored.
struct RestoredState: Equatable, Sendable {
    var revision: UInt64
    /// See ``CollectionState/fingerprint``.
    var hash: [UInt8]

    static let hashSize = 32
}

/// What a restore has put back on purpose: it stays as protected as the ledger knows, and is no rollback.
extension ProtectionLedger {
    /// What the ledger knows and the file lacks, in words for a person; nil if nothing, or if a person wanted that.
    ///
    /// - Parameter unprotected: the revisions of the items whose protection only the ledger has.
    func rollback(of state: RestoredState, unprotected: [ItemID: UInt64]) -> String? {
        if state.revision < revision, restoredState != state {
            return "the file was rolled back to an older one; items that were protected later stay protected"
        }
        let count = unprotected.count(where: { item in restoredItems[item.key] != item.value })
        guard count > 0 else { return nil }
        return count == 1
            ? "1 of its items was rolled back to an unprotected revision; it stays protected"
            : "\(count) of its items were rolled back to an unprotected revision; they stay protected"
    }

    /// Notes a file that a person has restored; of any other file, forgets what it has no longer.
    ///
    /// - Returns: whether the ledger has changed.
    mutating func noteRestoration(
        of state: RestoredState,
        isRestored: Bool,
        unprotected: [ItemID: UInt64]
    ) -> Bool {
        let (oldState, oldItems) = (restoredState, restoredItems)
        if isRestored {
            restoredState = state.revision < revision ? state : nil
            restoredItems = unprotected
        } else {
            if restoredState != state { restoredState = nil }
            restoredItems = restoredItems.filter { item in unprotected[item.key] == item.value }
        }
        return restoredState != oldState || restoredItems != oldItems
    }

    /// Forgets what a change of the restored file has replaced; false if that is nothing.
    mutating func endRestoration(by rows: [RowChange]) -> Bool {
        guard restoredState != nil || !restoredItems.isEmpty else { return false }
        let (hadState, itemCount) = (restoredState != nil, restoredItems.count)
        restoredState = nil
        for row in rows { restoredItems[row.id] = nil }
        return hadState || restoredItems.count != itemCount
    }
}
