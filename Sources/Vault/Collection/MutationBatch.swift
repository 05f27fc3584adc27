import KeychainModel

/// Changes that will be written in one transaction, decided on against what is written already.
///
/// A change that could depend on another of the same batch is not taken: it waits for the next.
struct MutationBatch {
    // A batch holds up everybody in it, so it is bounded.
    private static let maximumCount = 128
    private static let maximumSecretBytes = 4 << 20

    private let limits: VaultLimits
    private let indexKey: BlindIndexKey
    private let now: Timestamp

    /// What is to be written.
    private(set) var change: CollectionChange

    /// The changes that were taken, in order.
    private(set) var mutations: [PendingMutation] = []

    /// What will have come of them.
    private(set) var outcomes: [PendingMutation.Outcome] = []

    private var oldTags: [[UInt64]] = []
    private var touched: Set<ItemID> = []
    private var newAttributes: Set<Attributes> = []
    private var isRenaming = false
    private var secretBytes = 0

    init(after state: CollectionState, now: Timestamp, limits: VaultLimits, indexKey: BlindIndexKey) {
        self.limits = limits
        self.indexKey = indexKey
        self.now = now
        change = CollectionChange(state: state)
        change.state.modified = now
    }

    /// Whether there is nothing to write.
    var isEmpty: Bool { mutations.isEmpty }

    /// Takes a change; false when it has to wait for the next batch.
    ///
    /// Throws when the change is impossible, which is an answer to it and does not concern the others.
    mutating func add(_ mutation: PendingMutation, to table: borrowing ItemTable) throws(VaultError) -> Bool {
        let bytes = mutation.secretBytes
        guard isEmpty || (mutations.count < Self.maximumCount && secretBytes + bytes <= Self.maximumSecretBytes) else {
            return false
        }
        let outcome: PendingMutation.Outcome?
        switch mutation.request {
        case .create(let label, let attributes, let secret, let replacing):
            outcome = try create(label, attributes, secret, replacing: replacing, in: table)
        case .update(let id, let label, let attributes, let secret):
            outcome = try update(id, label, attributes, secret, in: table)
        case .delete(let id):
            outcome = try delete(id, in: table)
        case .rename(let label):
            outcome = try rename(label)
        }
        guard let outcome else { return false }
        secretBytes += bytes
        mutations.append(mutation)
        outcomes.append(outcome)
        return true
    }

    /// Brings the items in memory up to what has been written.
    ///
    /// - Parameter sealedSecrets: for each row the sealed secret that stays in memory.
    func apply(to table: inout ItemTable, sealedSecrets: [[UInt8]?]) {
        for (index, row) in change.rows.enumerated() {
            let sealed = index < sealedSecrets.count ? sealedSecrets[index] : nil
            switch row {
            case .insert(let row):
                let record = ItemRecord(
                    id: row.id,
                    revision: row.revision,
                    metadata: row.metadata,
                    sealedSecret: sealed
                )
                table.append(record, tags: row.tags)
            case .update(let row, _):
                let kept = row.secret == nil ? table[row.id]?.sealedSecret : sealed
                let record = ItemRecord(id: row.id, revision: row.revision, metadata: row.metadata, sealedSecret: kept)
                table.replace(record, oldTags: oldTags[index], newTags: row.tags)
            case .delete(let id, _):
                table.remove(id, tags: oldTags[index])
            }
        }
    }

    private mutating func create(
        _ label: String,
        _ attributes: Attributes,
        _ secret: SharedSecret,
        replacing: Bool,
        in table: borrowing ItemTable
    ) throws(VaultError) -> PendingMutation.Outcome? {
        let key = attributes.withoutReserved
        if replacing {
            if newAttributes.contains(key) { return nil }
            if let id = table.newestItem(withExactly: key, tags: try indexKey.tags(of: key)) {
                let outcome = try update(id, label, attributes, secret, in: table)
                return outcome == nil ? nil : .item(.replaced(id))
            }
        }
        guard change.state.itemCount < limits.items else {
            throw VaultError(.limitExceeded, reason: "the collection has \(limits.items) items, and takes no more")
        }
        guard let id = ItemID(rawValue: change.state.nextItem) else {
            throw VaultError(.limitExceeded, reason: "the collection has used up its item numbers")
        }
        change.state.nextItem += 1
        change.state.itemCount += 1
        let revision = nextRevision()
        let row = ItemRow(
            id: id,
            revision: revision,
            metadata: ItemMetadata(
                secretRevision: revision,
                created: now,
                modified: now,
                label: label,
                attributes: attributes
            ),
            tags: try indexKey.tags(of: attributes),
            secret: secret
        )
        append(.insert(row), oldTags: [])
        newAttributes.insert(key)
        return .item(.created(id))
    }

    private mutating func update(
        _ id: ItemID,
        _ label: String?,
        _ attributes: Attributes?,
        _ secret: SharedSecret?,
        in table: borrowing ItemTable
    ) throws(VaultError) -> PendingMutation.Outcome? {
        if touched.contains(id) { return nil }
        guard let record = table[id] else { throw VaultError(.noSuchItem, reason: "there is no item \(id)") }
        guard record.condition == .intact, !table.isDamaged(id) else {
            throw VaultError(.unreadable, reason: "item \(id) is damaged, and is kept as it is")
        }
        let revision = nextRevision()
        var metadata = record.metadata
        metadata.modified = now
        if let label { metadata.label = label }
        if let attributes { metadata.attributes = attributes }
        if secret != nil { metadata.secretRevision = revision }
        let oldTags = try indexKey.tags(of: record.metadata.attributes)
        let newTags = attributes == nil ? oldTags : try indexKey.tags(of: metadata.attributes)
        let row = ItemRow(id: id, revision: revision, metadata: metadata, tags: newTags, secret: secret)
        append(.update(row, from: record.revision), oldTags: oldTags)
        newAttributes.insert(metadata.attributes.withoutReserved)
        return .done
    }

    private mutating func delete(
        _ id: ItemID,
        in table: borrowing ItemTable
    ) throws(VaultError) -> PendingMutation.Outcome? {
        if touched.contains(id) { return nil }
        guard let record = table[id] else { throw VaultError(.noSuchItem, reason: "there is no item \(id)") }
        let oldTags =
            if let stored = table.storedTags(of: id) { stored } else {
                try indexKey.tags(of: record.metadata.attributes)
            }
        _ = nextRevision()
        if change.state.itemCount > 0 { change.state.itemCount -= 1 }
        append(.delete(id, from: record.revision), oldTags: oldTags)
        return .done
    }

    private mutating func rename(_ label: String) throws(VaultError) -> PendingMutation.Outcome? {
        if isRenaming { return nil }
        isRenaming = true
        _ = nextRevision()
        change.state.label = label
        return .done
    }

    private mutating func append(_ row: RowChange, oldTags: [UInt64]) {
        change.rows.append(row)
        self.oldTags.append(oldTags)
        touched.insert(row.id)
    }

    private mutating func nextRevision() -> UInt64 {
        // Changes at a billion a second would take centuries to wrap it.
        change.state.revision &+= 1
        return change.state.revision
    }
}
