import KeychaindGcrypt
import KeychaindLog
import KeychaindModel

/// The items of a file, opened with its keys.
struct LoadedContents: Sendable {
    var table: ItemTable

    /// The state that was stored; with damage, one that fits the items.
    var state: CollectionState

    /// What is damaged, in words; empty for a sound file.
    var problems: [String]

    var position: LogPosition?

    /// Whether nothing is missing, and nothing was changed without the key.
    var isWhole: Bool { problems.isEmpty }
}

extension CollectionLog {
    /// Opens the items.
    ///
    /// - Parameters:
    ///   - known: the items as known without keys; nil if their tags are stale, and new ones are made.
    ///   - residentSecretBytes: the largest secret that stays in memory.
    func load(
        in past: LogState? = nil,
        _ keys: CollectionKeys,
        into known: ItemTable?,
        indexKey: BlindIndexKey?,
        residentSecretBytes: Int
    ) throws(VaultError) -> LoadedContents {
        let limit = residentSecretBytes + SecretsKey.overhead
        var table = known ?? ItemTable()
        var unsorted: [(record: ItemRecord, tags: [UInt64])] = []
        var damaged: [ItemID] = []
        var lastRevision: UInt64 = 0
        var problems = damage
        problems += try forEachItem(in: past, keys, checksSecrets: false) { (id, item) throws(VaultError) in
            guard let item else { return damaged.append(id) }
            let secret = item.secret.count <= limit ? item.secret : nil
            var metadata = ItemMetadata(reserving: item.metadata.count, sealedSecret: secret)
            guard metadata.decode(item.metadata) else { return damaged.append(id) }
            let size = item.secret.count
            lastRevision = max(lastRevision, item.revision)
            let record = ItemRecord(id: id, revision: item.revision, metadata: metadata, secretBytes: size)
            if known != nil {
                if let position = table.position(of: id) { _ = table.fill(record, at: position) }
            } else {
                let tags = try indexKey?.tags(ofItem: metadata.attributes) ?? Array(item.tags)
                unsorted.append((record, tags))
            }
        }
        if known == nil {
            for id in damaged { unsorted.append((ItemRecord(id: id, revision: 0, condition: .damaged), [])) }
            unsorted.sort { first, second in first.record.id < second.record.id }
            for (record, tags) in unsorted { table.append(record, tags: tags) }
        }
        for id in damaged {
            let (revision, tags) = try storedTags(of: id)
            if let position = table.position(of: id) {
                _ = table.fill(ItemRecord(id: id, revision: revision, condition: .damaged), at: position)
            }
            table.markDamaged(id, reason: "its metadata is damaged", tags: known == nil ? [] : tags)
        }
        if !damaged.isEmpty {
            problems.append("\(damaged.count) of its items \(damaged.count.isOrAre) damaged and left unchanged")
        }
        let state = try state(keys, fitting: table, lastRevision)
        return LoadedContents(table: table, state: state, problems: problems)
    }

    private func storedTags(of id: ItemID) throws(VaultError) -> (revision: UInt64, tags: [UInt64]) {
        guard let record = RecordID(id) else { return (0, []) }
        var found: (UInt64, [UInt64]) = (0, [])
        try logged { () throws(LogError) in
            try records.forEachPast(of: record) { _, open in
                let (revision, tags) = ItemContent.decode(open: open)
                found = (revision, Array(tags))
                return false
            }
        }
        return found
    }

    /// The stored state; if that, or a later one, is lost, one whose numbers are not used by any item.
    private func state(
        _ keys: CollectionKeys,
        fitting table: ItemTable,
        _ lastRevision: UInt64
    ) throws(VaultError) -> CollectionState {
        let header = try header()
        var state =
            try state(keys)
            ?? CollectionState(created: header.created, modified: header.modified, label: header.label)
        if let last = table.highestID { state.nextItem = max(state.nextItem, last.rawValue + 1) }
        state.revision = max(state.revision, lastRevision)
        state.itemCount = UInt64(table.count)
        return state
    }
}

/// A past state of a keychain, in its own file.
struct PastState: Equatable, Sendable {
    let sequence: UInt64
    let modified: Timestamp
    let label: String
}

extension CollectionLog {
    /// The states that the last change of a day has left, without the present one, the latest first.
    ///
    /// - Parameter limit: the most states to return.
    func pastStates(atMost limit: Int) throws(VaultError) -> [PastState] {
        var states: [PastState] = []
        var day: Int64?
        let horizon = records.horizon
        try logged { () throws(LogError) in
            try records.forEachPast(of: .state) { sequence, open in
                guard states.count < limit, sequence >= horizon, let state = OpenState(open) else { return false }
                let found = state.modified.day
                if let day, day != found {
                    states.append(PastState(sequence: sequence, modified: state.modified, label: state.label))
                }
                day = found
                return true
            }
        }
        return states
    }
}

extension Timestamp {
    /// The number of the day, in UTC.
    fileprivate var day: Int64 { microsecondsSinceEpoch / 1_000_000 / (24 * 60 * 60) }
}

/// Decides when a log is rewritten without what no kept state needs.
struct CompactionPlan {
    private var nextCount = 0
    private var lastDay: Int64?
    private var hasChanged = false

    mutating func noteChange() { hasChanged = true }

    /// Whether there is much to drop, or something to drop on another day than the last time.
    mutating func isDue(for log: RecordLog, at now: Timestamp) -> Bool {
        guard hasChanged, log.frameCount > log.count else { return false }
        guard lastDay != now.day || log.frameCount >= max(nextCount, 2 * log.count + 256) else { return false }
        lastDay = now.day
        hasChanged = false
        return true
    }

    mutating func noteCompaction(of log: RecordLog) { nextCount = 2 * log.frameCount + 256 }
}
