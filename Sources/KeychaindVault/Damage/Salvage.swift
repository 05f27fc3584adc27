import KeychaindGcrypt
import KeychaindLog
import KeychaindModel

/// The result of a salvage.
package struct SalvageReport: Sendable {
    /// The items in the new file.
    package internal(set) var kept = 0

    /// Those of them that were damaged or lost in the file, and which were in memory.
    package internal(set) var fromMemory = 0

    /// The items that are not genuine, nor in memory; they stay in the old file.
    package internal(set) var damaged = 0

    /// The latter, by their numbers.
    var dropped: [ItemID] = []

    /// The name of the old file, kept beside the new one.
    package internal(set) var oldFile = ""
}

/// What a new file takes from a damaged one, and what from memory.
struct Salvage {
    let table: ItemTable
    private(set) var state: CollectionState
    let indexKey: BlindIndexKey
    let header: CollectionHeader

    init(table: ItemTable, state: CollectionState, indexKey: BlindIndexKey, header: CollectionHeader) {
        self.table = table
        self.state = state
        self.indexKey = indexKey
        self.header = header
    }

    func plan(_ log: CollectionLog, _ keys: CheckKeys) throws(VaultError) -> (Rewriting, SalvageReport) {
        var good: [ItemID: UInt64] = [:]
        try log.forEachItem(keys.collection, checksSecrets: true) { (id, item) throws(VaultError) in
            guard let item, item.isGenuine(id, keys) else { return }
            good[id] = item.revision
        }
        var report = SalvageReport()
        var changes = try CollectionLog.slotChanges(header)
        var dropped: Set<RecordID> = []
        for id in table.ids {
            guard let place = RecordID(id), let record = table[id] else { continue }
            if good[id] == record.revision, record.condition == .intact {
                report.kept += 1
                continue
            }
            if record.condition == .intact, let secret = record.sealedSecret, record.isGenuine(secret, keys) {
                let tags = try indexKey.tags(ofItem: record.metadata.attributes)
                let content = ItemContent.encode(
                    revision: record.revision,
                    tags: tags,
                    record.metadata,
                    secret: Array(secret)
                )
                changes.append(RecordChange(place, content, erasesPast: true))
                report.kept += 1
                report.fromMemory += 1
            } else {
                dropped.insert(place)
                report.damaged += 1
                report.dropped.append(id)
            }
        }
        // Without their deletions, removed items would come back.
        for id in good.keys where !table.contains(id) { if let place = RecordID(id) { dropped.insert(place) } }
        var state = state
        state.itemCount = UInt64(report.kept)
        changes.append(CollectionLog.stateChange(state, indexKey: indexKey.fingerprint))
        var rewriting = Rewriting()
        rewriting.changes = changes
        rewriting.isDropped = { [dropped] id, _ in dropped.contains(id) }
        return (rewriting, report)
    }
}

extension ItemRecord {
    /// Whether a sealed secret is genuine: what was damaged when it was read is so in memory, too.
    fileprivate func isGenuine(_ secret: ArraySlice<UInt8>, _ keys: CheckKeys) -> Bool {
        guard let key = keys.secrets else { return false }
        return
            (try? key.verify(
                secret,
                item: id.rawValue,
                revision: metadata.secretRevision,
                hasItemKey: metadata.wraps != nil
            )) != nil
    }
}

extension Vault {
    /// Takes the intact items of a damaged collection into a new file, and keeps the old one beside it.
    ///
    /// An item that is whole in memory is kept, too. The collection must be unlocked, and stays so. Throws `locked`,
    /// `notSupported` for a sound collection, and disk errors; then nothing has changed.
    package func salvage(_ collection: Collection) async throws(VaultError) -> SalvageReport {
        do throws(VaultError) {
            return try await salvageInTurn(collection)
        } catch {
            if error.code == .displaced { _ = await takeUp(collection) }
            throw error
        }
    }

    private func salvageInTurn(_ collection: Collection) async throws(VaultError) -> SalvageReport {
        await exclusiveWork.begin(.replacement(collection.name))
        defer { exclusiveWork.end(.replacement(collection.name)) }
        guard !collection.hasEnded, self.collection(named: collection.name) === collection else {
            throw VaultError.collectionDeleted
        }
        guard collection.canBeSalvaged else {
            throw VaultError(.notSupported, reason: "the keychain is not damaged")
        }
        return try await collection.salvage()
    }
}

extension Collection {
    fileprivate func salvage() async throws(VaultError) -> SalvageReport {
        guard case .unlocked = phase, case .file(let worker) = storage else { throw VaultError.collectionLocked }
        let report = try await exclusively { () async throws(VaultError) in
            let (items, state) = (table, properties)
            let report = try await worker.perform { (writer) throws(VaultError) in try writer.salvage(items, state) }
            for id in report.dropped { table.remove(id, tags: try tags(of: id)) }
            table.forgetDamages()
            properties.itemCount = UInt64(table.count)
            return report
        }
        (problems, condition, foundDamage, isWhole) = ([], .sound, nil, true)
        context.observer.onProblem?(name)
        context.observer.onChange?(name)
        return report
    }

    private func tags(of id: ItemID) throws(VaultError) -> [UInt64] {
        if let stored = table.storedTags(of: id) { return stored }
        return try context.indexKey.tags(ofItem: table[id]?.metadata.attributes ?? Attributes())
    }
}
