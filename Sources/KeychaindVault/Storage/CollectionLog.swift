import KeychaindGcrypt
import KeychaindLog
import KeychaindModel

/// The log of a collection: its key slots, its state and its items.
///
/// All methods block; one thread at a time may call them.
final class CollectionLog {
    let records: RecordLog

    /// Opens a file; a reader changes nothing, and works beside a writer.
    ///
    /// Throws `unreadable` unless it is a keychain.
    ///
    /// - Parameter known: a sequence that the file has had.
    init(
        _ path: String,
        known: UInt64 = 0,
        readOnly isReadOnly: Bool = false,
        _ configuration: VaultConfiguration
    ) throws(VaultError) {
        records = try logged { () throws(LogError) in
            try RecordLog(
                path,
                application: CollectionFormat.application,
                known: known,
                readOnly: isReadOnly,
                limits: configuration.logLimits,
                system: configuration.system
            )
        }
    }

    private init(_ records: RecordLog) { self.records = records }

    /// Creates the file of a new collection: completely and durably, or not at all.
    ///
    /// Throws `busy` when the name is taken, as by a restored file.
    static func create(
        _ path: String,
        _ header: CollectionHeader,
        _ state: CollectionState,
        _ keys: CollectionKeys,
        _ configuration: VaultConfiguration
    ) throws(VaultError) -> CollectionLog {
        let slots = try slotChanges(header)
        return CollectionLog(
            try logged { () throws(LogError) in
                try RecordLog.create(
                    path,
                    application: CollectionFormat.application,
                    uuid: header.identifier,
                    slots + [stateChange(state, indexKey: header.indexKey)],
                    keys.log,
                    limits: configuration.logLimits,
                    system: configuration.system
                )
            }
        )
    }

    static func slotChanges(_ header: CollectionHeader) throws(VaultError) -> [RecordChange] {
        let open = try SlotRecord(header).encoded(in: header.identifier)
        return RecordID.slots.map { id in RecordChange(id, RecordContent(open: open), erasesPast: true) }
    }

    static func stateChange(_ state: CollectionState, indexKey: [UInt8]) -> RecordChange {
        let open = OpenState.encode(state, indexKey: indexKey)
        return RecordChange(.state, RecordContent(open: open, metadata: state.encoded))
    }

    // MARK: Without a key

    /// The public part, with the key slots that are whole; throws `unreadable` if no slot opens the collection.
    func header() throws(VaultError) -> CollectionHeader {
        let identifier = records.uuid
        var slots: SlotRecord?
        for id in RecordID.slots {
            guard let found = try open(id, { bytes in Array(bytes) }) else { continue }
            let copy = try found.withRawBytes { (bytes) throws(VaultError) in try SlotRecord(bytes, in: identifier) }
            if slots == nil { slots = copy } else { slots?.add(copy) }
        }
        let state = try open(.state) { bytes in OpenState(bytes) } ?? nil
        var header = CollectionHeader(
            identifier: identifier,
            label: state?.label ?? "",
            created: state?.created ?? Timestamp(microsecondsSinceEpoch: 0),
            modified: state?.modified ?? Timestamp(microsecondsSinceEpoch: 0),
            indexKey: state?.indexKey ?? [],
            slots: slots?.slots ?? []
        )
        header.highestSlot = slots?.highest ?? 0
        header.damagedSlots = slots?.damaged ?? 0
        guard header.slots.contains(where: \.opensCollection) else {
            throw VaultError(.unreadable, reason: "all its key slots are damaged")
        }
        return header
    }

    private func open<Result>(
        _ id: RecordID,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result? {
        var result: Result?
        try logged { () throws(LogError) in
            try records.forEachPast(of: id) { _, open in
                result = body(open)
                return false
            }
        }
        return result
    }

    var itemCount: Int { records.state.ids.count { id in id.item != nil } }

    /// The items by their tags; without tags if another index key made them.
    func lockedItems(tagsAreStale: Bool) throws(VaultError) -> ItemTable {
        var items: [(id: ItemID, revision: UInt64, tags: [UInt64])] = []
        try logged { () throws(LogError) in
            try records.forEachOpen { record, open, _ in
                guard let id = record.item else { return }
                let (revision, tags) = ItemContent.decode(open: open)
                items.append((id, revision, tagsAreStale ? [] : Array(tags)))
            }
        }
        items.sort { first, second in first.id < second.id }
        var table = ItemTable()
        table.reserve(items: items.count)
        for item in items { table.append(ItemRecord(id: item.id, revision: item.revision), tags: item.tags) }
        return table
    }

    /// What the file lost, in words for a person; empty for a sound file.
    var damage: [String] {
        var problems: [String] = []
        let report = records.report
        switch report.end {
        case .cut: problems.append("the end of the file was cut off, so its latest changes may be lost")
        case .damaged: problems.append("the end of the file is damaged, so its latest changes are lost")
        case .clean, .torn, .older: break
        }
        let unreadable = report.damages.count { damage in damage.kind == .unreadable }
        if unreadable > 0 {
            problems.append(
                "\(unreadable) of its places \(unreadable.isOrAre) damaged, so changes of its items are lost"
            )
        }
        if report.damages.contains(where: { damage in damage.kind == .missing }) {
            problems.append("changes were removed or replaced without the key")
        }
        if report.damages.contains(where: { damage in damage.kind == .header }) {
            problems.append("a copy of its header is damaged")
        }
        return problems
    }

    // MARK: With the keys

    /// The state that the file was left in; nil if it is damaged, or sealed with other keys.
    func state(_ keys: CollectionKeys) throws(VaultError) -> CollectionState? {
        do throws(LogError) {
            return try records.read(.state, keys.log) { record in record.metadata.flatMap(CollectionState.init) }
        } catch {
            guard error.code == .damaged || error.code == .noSuchRecord else { throw error.asVaultError }
            return nil
        }
    }

    /// Passes each item to a closure, which gets nil for one whose seals are not genuine; in the order of the file.
    ///
    /// The secrets are compared with their marks if that is asked for, else they are not authenticated.
    ///
    /// - Returns: what else of the collection is damaged, in words.
    @discardableResult
    func forEachItem(
        in state: LogState? = nil,
        _ keys: CollectionKeys,
        checksSecrets: Bool,
        _ body: (ItemID, StoredItem?) throws(VaultError) -> Void
    ) throws(VaultError) -> [String] {
        var failure: VaultError?
        let damages = try logged { () throws(LogError) in
            try records.forEach(in: state ?? records.state, keys.log, checksSecrets: checksSecrets) { record in
                guard let id = record.id.item, failure == nil else { return }
                do throws(VaultError) { try body(id, StoredItem(record)) } catch { failure = error }
            }
        }
        if let failure { throw failure }
        var others: [String] = []
        for case .frame(let record, _) in damages.map(\.kind) {
            if let id = record.item {
                try body(id, nil)
            } else {
                others.append(record == .state ? "its sealed state is damaged" : "a copy of its key slots is damaged")
            }
        }
        return others
    }

    /// Stores a change, and returns the sealed secrets of its rows.
    func commit(
        _ change: CollectionChange,
        indexKey: [UInt8],
        erasesPast: Bool,
        _ keys: CollectionKeys,
        _ secretsKey: SecretsKey
    ) throws(VaultError) -> [[UInt8]?] {
        var changes: [RecordChange] = []
        var secrets: [[UInt8]?] = []
        changes.reserveCapacity(change.rows.count + 1)
        for row in change.rows {
            guard let id = RecordID(row.id) else {
                throw VaultError(.limitExceeded, reason: "the collection has run out of item IDs")
            }
            switch row {
            case .insert(let row), .update(let row):
                let secret: [UInt8]
                if let new = row.secret {
                    secret = try cipher { () throws(GcryptError) in try secretsKey.seal(new.secret, of: row) }
                } else {
                    secret = try sealedSecret(of: id, keys)
                }
                secrets.append(row.secret == nil ? nil : secret)
                let content = ItemContent.encode(
                    revision: row.revision,
                    tags: row.tags,
                    row.metadata,
                    secret: secret
                )
                changes.append(RecordChange(id, content, erasesPast: erasesPast || row.erasesPast))
            case .delete:
                secrets.append(nil)
                changes.append(RecordChange(id, nil, erasesPast: erasesPast))
            }
        }
        changes.append(Self.stateChange(change.state, indexKey: indexKey))
        try logged { () throws(LogError) in
            try records.commit(changes, keys.log, usesReserve: change.onlyDeletes)
        }
        if changes.contains(where: { change in change.erasesPast && change.content != nil }) {
            // What is better protected from now on must not be found in the file, nor come back from its past.
            try? records.finishErasing()
        }
        return secrets
    }

    private func sealedSecret(of id: RecordID, _ keys: CollectionKeys) throws(VaultError) -> [UInt8] {
        try logged { () throws(LogError) in try records.read(id, keys.log) { record in Array(record.secret) } }
    }

    /// The present sealed secret of an item, and the revision at which it was sealed.
    func secret(of id: ItemID, _ keys: CollectionKeys) throws(VaultError) -> (sealed: [UInt8], revision: UInt64) {
        guard let record = RecordID(id) else { throw VaultError.noItem(id) }
        return try logged { () throws(LogError) in
            try records.read(record, keys.log) { record in
                let metadata = record.metadata.flatMap(ItemMetadata.init)
                return (Array(record.secret), metadata?.secretRevision ?? 0)
            }
        }
    }

    /// Replaces the key slots durably, and overwrites the old ones.
    func setSlots(_ header: CollectionHeader, _ keys: CollectionKeys) throws(VaultError) {
        let changes = try Self.slotChanges(header)
        try logged { () throws(LogError) in try records.commit(changes, keys.log) }
        // They are stored: a failure to overwrite the old ones must not look like a refusal.
        try? records.finishErasing()
    }
}

/// An item as it is stored; its bytes are valid until the closure that got it returns.
struct StoredItem {
    let revision: UInt64
    let tags: StoredTags
    let metadata: UnsafeRawBufferPointer
    let secret: UnsafeRawBufferPointer

    fileprivate init?(_ record: StoredRecord) {
        guard let metadata = record.metadata else { return nil }
        (revision, tags) = ItemContent.decode(open: record.open)
        (self.metadata, secret) = (metadata, record.secret)
    }
}

/// The verbs of sentences about a number of things.
extension Int {
    var isOrAre: String { self == 1 ? "is" : "are" }
}
