import KeychainModel

extension ItemTable {
    /// Restores protection that the ledger records and the file lacks.
    ///
    /// Returns the number of changed items.
    mutating func restoreProtection(
        from ledger: ProtectionLedger,
        indexKey: BlindIndexKey
    ) throws(VaultError) -> Int {
        var count = 0
        for (id, mark) in ledger.marks {
            guard let record = self[id], record.condition == .intact else { continue }
            switch mark {
            case .doubtful:
                guard !protection(of: id).needsAuthentication else { continue }
                doubt(record)
            case .protected(let since, let attributes):
                guard let restored = Self.restored(record, since: since, attributes) else { continue }
                let oldTags = try indexKey.tags(of: record.metadata.attributes)
                replace(restored, oldTags: oldTags, newTags: try indexKey.tags(of: restored.metadata.attributes))
            }
            count += 1
        }
        return count
    }

    /// Requires authentication for every open item until it is written again; returns their IDs.
    mutating func doubtOpenItems() -> [ItemID] {
        var doubtful: [ItemID] = []
        for id in ids {
            guard let record = self[id], record.condition == .intact, !protection(of: id).needsAuthentication else {
                continue
            }
            doubt(record)
            doubtful.append(id)
        }
        return doubtful
    }

    private mutating func doubt(_ record: ItemRecord) {
        let name = ReservedAttribute.accessControl.rawValue
        let attributes = record.metadata.attributes.setting(name, to: Constraint.userPresence.rawValue)
        impose(ItemProtection(of: attributes), on: record.id)
    }

    /// Returns an item with its recorded protection; nil if it has that or one that is as good.
    private static func restored(_ record: ItemRecord, since: UInt64, _ known: Attributes) -> ItemRecord? {
        let attributes = record.metadata.attributes
        // A rolled-back row cannot remove what a key enforces.
        guard record.metadata.wraps == nil, attributes.protection != known else { return nil }
        let own = ItemProtection(of: attributes)
        if case .unknown = own { return nil }
        let policy = ItemProtection(of: known).policy
        let losesKey = own.keyAlternatives == nil && policy?.keyAlternatives != nil
        if own.needsAuthentication, record.revision >= since, !losesKey { return nil }
        var restored = record
        restored.metadata.attributes = attributes.withProtection(known)
        // This revision has no item key, so nothing could verify the application password.
        if policy?.factors.contains(.applicationPassword) == true {
            restored.metadata.attributes = restored.metadata.attributes.setting(
                ReservedAttribute.accessControl.rawValue,
                to: Constraint.devicePasscode.rawValue
            )
        }
        return restored
    }
}
