import KeychaindGcrypt
import KeychaindLog
import KeychaindModel

/// The log of data that belongs to no single collection: aliases, failed attempts, ledgers, the audit.
///
/// Records have names, and all but the audit are in memory. Its key is public, as it is needed before any password:
/// seals tell damage here, and nothing that is secret or must not be forged is stored without a seal of its own.
final class StateFile {
    static let name = "state"

    /// `KCHS`, the application of the log.
    private static let application: UInt32 = 0x4b43_4853
    private static let namedKind: UInt8 = 1

    private let log: RecordLog
    private let key: LogKey

    /// The reason why the file cannot be written, if any.
    let obstacle: VaultError?

    private var records: [String: Record] = [:]
    private var nextNumber: UInt64 = 1
    /// The number of the last audit entry.
    private var lastEntry: UInt64 = 0

    private struct Record {
        let id: RecordID
        let value: [UInt8]
    }

    /// Whether something of the file is lost.
    private(set) var isDamaged: Bool

    /// Opens the file, or makes an empty one.
    ///
    /// - Parameter isNew: makes one; throws `busy` if there is a file.
    init(in folder: Folder, isNew: Bool = false, _ configuration: VaultConfiguration) throws(VaultError) {
        let (log, key, obstacle) = try Self.open(folder.file(Self.name), isNew: isNew, configuration)
        (self.log, self.key, self.obstacle) = (log, key, obstacle)
        isDamaged = log.report.isDamaged
        try load()
    }

    private static func open(
        _ path: String,
        isNew: Bool,
        _ configuration: VaultConfiguration
    ) throws(VaultError) -> (RecordLog, LogKey, VaultError?) {
        let key = try cipher { () throws(GcryptError) in
            LogKey(try SealingKey(SecureBytes(count: KeyPurpose.keySize)))
        }
        let (limits, system) = (configuration.logLimits, configuration.system)
        if isNew {
            let uuid = try cipher { () throws(GcryptError) in
                try RandomBytes.nonce(CollectionFormat.identifierSize)
            }
            let log = try logged { () throws(LogError) in
                try RecordLog.create(
                    path,
                    application: application,
                    uuid: uuid,
                    [],
                    key,
                    limits: limits,
                    system: system
                )
            }
            return (log, key, nil)
        }
        do throws(LogError) {
            let log = try RecordLog(path, application: application, limits: limits, system: system)
            return (log, key, nil)
        } catch {
            guard error.code == .readOnly || error.code == .inUse else { throw error.asVaultError }
            let log = try logged { () throws(LogError) in
                try RecordLog(path, application: application, readOnly: true, limits: limits, system: system)
            }
            let isReadOnly = !Folder.isWritable(path)
            return (log, key, isReadOnly ? VaultError(.readOnly, reason: "\(name) is read-only") : error.asVaultError)
        }
    }

    private func load() throws(VaultError) {
        let damages = try logged { () throws(LogError) in
            try log.forEach(in: log.state, key) { record in
                if record.id.kind != Self.namedKind { return lastEntry = max(lastEntry, record.id.number) }
                nextNumber = max(nextNumber, record.id.number + 1)
                var reader = FieldReader(record.open)
                guard let length = reader.integer(UInt16.self), let name = reader.bytes(Int(length)) else { return }
                records[String(decoding: name, as: UTF8.self)] = Record(
                    id: record.id,
                    value: Array(reader.remaining)
                )
            }
        }
        if !damages.isEmpty { isDamaged = true }
    }

    var isWritable: Bool { obstacle == nil }

    func requireWritable() throws(VaultError) {
        if let obstacle { throw obstacle }
    }

    // MARK: Records

    /// The value of a record; nil if there is no such record.
    func value(ofRecord name: String) -> [UInt8]? { records[name]?.value }

    /// The records whose names begin with a prefix, without it.
    func records(withPrefix prefix: String) -> [(name: String, value: [UInt8])] {
        records.lazy.filter { record in record.key.hasPrefix(prefix) }
            .map { record in (String(record.key.dropFirst(prefix.count)), record.value.value) }
    }

    /// Sets records durably, all or none; a nil value removes one.
    ///
    /// - Parameter isUrgent: whether the reserve of a full disk may be used, as for failed attempts.
    func set(_ values: [String: [UInt8]?], isUrgent: Bool = false) throws(VaultError) {
        try requireWritable()
        let (changes, new) = try changes(to: values)
        try commit(changes, usesReserve: isUrgent)
        take(new)
    }

    private func changes(
        to values: [String: [UInt8]?]
    ) throws(VaultError) -> (changes: [RecordChange], new: [String: Record?]) {
        var changes: [RecordChange] = []
        var new: [String: Record?] = [:]
        var number = nextNumber
        for (name, value) in values {
            let old = records[name]
            guard old?.value != value else { continue }
            guard let value else {
                if let old { changes.append(RecordChange(old.id, nil)) }
                new[name] = .some(nil)
                continue
            }
            guard let id = old?.id ?? RecordID(kind: Self.namedKind, number: number) else {
                throw VaultError(.limitExceeded, reason: "\(Self.name) has too many records")
            }
            if old == nil { number += 1 }
            var open: [UInt8] = []
            open.append(bigEndian: UInt16(clamping: name.utf8.count))
            open += name.utf8
            changes.append(RecordChange(id, RecordContent(open: open + value)))
            new[name] = Record(id: id, value: value)
        }
        return (changes, new)
    }

    private func take(_ new: [String: Record?]) {
        for (name, record) in new {
            records[name] = record
            if let record { nextNumber = max(nextNumber, record.id.number + 1) }
        }
    }

    private func commit(_ changes: [RecordChange], usesReserve: Bool = false) throws(VaultError) {
        try logged { () throws(LogError) in try log.commit(changes, key, usesReserve: usesReserve) }
    }

    /// Throws `displaced` if another program has removed, replaced or changed the file.
    func check() throws(VaultError) {
        guard isWritable else { return }
        try logged { () throws(LogError) in try log.check() }
    }

    /// Drops what is past, if it is much.
    func rest() throws(VaultError) {
        guard isWritable, log.frameCount > 2 * log.count + 256 else { return }
        try logged { () throws(LogError) in _ = try log.rewrite(Rewriting(), key) }
    }

    /// Puts a copy of a removed file in its place, without what is damaged; does nothing if there is another file.
    func putBack(in folder: Folder) throws(VaultError) {
        guard try !folder.exists(Self.name) else { return }
        var rewriting = Rewriting()
        rewriting.isSalvage = true
        try logged { () throws(LogError) in _ = try log.copy(to: folder.file(Self.name), rewriting, key) }
    }

    /// Leaves out what is damaged, and sets records with that; the old file is kept under another name.
    func salvage(in folder: Folder, setting values: [String: [UInt8]?]) throws(VaultError) {
        try requireWritable()
        let (changes, new) = try changes(to: values)
        try folder.keepAlso(Self.name, as: Self.freeName(in: folder))
        try folder.synchronize()
        var rewriting = Rewriting()
        (rewriting.isSalvage, rewriting.changes) = (true, changes)
        try logged { () throws(LogError) in _ = try log.rewrite(rewriting, key) }
        take(new)
        isDamaged = false
    }

    /// Keeps a file that cannot be read under another name.
    static func setAside(in folder: Folder) throws(VaultError) {
        try folder.rename(name, to: freeName(in: folder))
    }

    private static func freeName(in folder: Folder) throws(VaultError) -> String {
        var kept = name + ".unreadable"
        var number = 2
        while try folder.exists(kept) {
            kept = "\(name).unreadable-\(number)"
            number += 1
        }
        return kept
    }

    /// Throws unless a copied file can be read whole.
    static func checkCopy(in folder: Folder, _ configuration: VaultConfiguration) throws(VaultError) {
        guard try !StateFile(in: folder, configuration).isDamaged else {
            throw VaultError(.unreadable, reason: "it is damaged")
        }
    }

    // MARK: The audit

    /// Appends audit entries in place of those that they replace, and removes the oldest of each ring past its
    /// ``AuditRing/capacity``.
    func appendAudit(_ entries: [AuditTrail.Waiting], sealedBy key: AuditKey) throws(VaultError) {
        try requireWritable()
        // Both rings share one sequence: it gives the order, and an entry cannot be moved to the other ring.
        var number = lastEntry
        var changes: [RecordID: RecordChange] = [:]
        var places: [(place: AuditPlace, id: RecordID)] = []
        for waiting in entries {
            number += 1
            guard let id = RecordID(kind: waiting.ring.kind, number: number) else {
                throw VaultError(.limitExceeded, reason: "the audit has run out of numbers")
            }
            let sealed = try key.seal(waiting.entry, number: Int64(number))
            if let former = waiting.place?.entry(in: self) {
                changes[former] = log.contains(former) ? RecordChange(former, nil) : nil
            }
            changes[id] = RecordChange(id, RecordContent(secret: sealed))
            if let place = waiting.place { places.append((place, id)) }
        }
        for ring in AuditRing.allCases {
            let added = changes.values.count { change in change.id.kind == ring.kind && change.content != nil }
            let numbers = entryNumbers(of: ring)
            for old in numbers.prefix(max(0, numbers.count + added - ring.capacity)) {
                if let id = RecordID(kind: ring.kind, number: old) { changes[id] = RecordChange(id, nil) }
            }
        }
        try commit(changes.values.sorted { first, second in first.id.number < second.id.number })
        lastEntry = number
        for (place, id) in places { place.set(id, in: self) }
    }

    /// Ascending.
    private func entryNumbers(of ring: AuditRing) -> [UInt64] {
        log.state.ids.lazy.filter { id in id.kind == ring.kind }.map(\.number).sorted()
    }

    /// Calls `body` with each audit entry, newest first, until it returns false.
    func forEachAudit(_ body: (_ number: Int64, _ sealed: UnsafeRawBufferPointer) -> Bool) throws(VaultError) {
        let kinds = AuditRing.allCases.map(\.kind)
        let ids = log.state.ids.filter { id in kinds.contains(id.kind) }
        for id in ids.sorted(by: { first, second in first.number > second.number }) {
            do throws(LogError) {
                guard try log.read(id, nil, { record in body(Int64(record.id.number), record.secret) }) else { return }
            } catch {
                // A damaged entry does not hide the others.
                guard error.code == .damaged else { throw error.asVaultError }
            }
        }
    }
}

extension AuditRing {
    fileprivate var kind: UInt8 {
        switch self {
        case .attended: 2
        case .unattended: 3
        }
    }
}
