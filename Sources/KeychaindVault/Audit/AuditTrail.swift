import KeychaindGcrypt
import KeychaindLog
package import KeychaindModel
import Synchronization

/// The audit entries to be written.
///
/// Adding one only takes a lock. Entries wait for the disk, and for the audit key until `login` is first unlocked; past
/// a limit they are counted and dropped.
final class AuditTrail: Sendable {
    struct Waiting: Sendable {
        let entry: AuditEntry
        let ring: AuditRing
        var place: AuditPlace?
        /// The number of entries that it says were lost; zero for any other.
        var losses = 0
    }

    /// The most pending entries of a ring.
    static let capacity = 2000

    /// The number of pending entries that are written without waiting for a pause.
    static let many = 256

    private struct State {
        var waiting: [Waiting] = []
        /// Whether entries that were taken are not on the disk yet.
        var isWriting = false
        var counts: [AuditRing: Int] = [:]
        var lost: [AuditRing: Int] = [:]
        var keys: [CollectionName: AuditKey] = [:]

        var key: AuditKey? { keys[.login] }

        /// Replaces the waiting entry with the same place.
        mutating func replace(with waiting: Waiting) -> Bool {
            guard let place = waiting.place, let index = self.waiting.lastIndex(where: { $0.place === place }) else {
                return false
            }
            self.waiting.remove(at: index)
            self.waiting.append(waiting)
            return true
        }

        mutating func append(_ waiting: Waiting) -> Bool {
            guard counts[waiting.ring, default: 0] < AuditTrail.capacity else {
                lost[waiting.ring, default: 0] += 1
                return false
            }
            counts[waiting.ring, default: 0] += 1
            self.waiting.append(waiting)
            return true
        }
    }

    private let state = Mutex(State())

    /// Adds an entry; true when the writing thread must be woken.
    func add(_ entry: AuditEntry, in ring: AuditRing, at place: AuditPlace?) -> Bool {
        state.withLock { state in
            let waiting = Waiting(entry: entry, ring: ring, place: place)
            guard !state.replace(with: waiting), state.append(waiting) else { return false }
            return state.key != nil && (state.waiting.count == 1 || state.waiting.count == Self.many)
        }
    }

    /// Whether the entries should be written at once.
    var isLong: Bool { state.withLock { state in state.waiting.count >= Self.many } }

    /// Whether the audit can be read: since the first unlock of `login`.
    var isReadable: Bool { state.withLock { state in state.key != nil } }

    /// Adds the key of a keychain that was unlocked.
    func add(_ key: AuditKey, of name: CollectionName) {
        state.withLock { state in state.keys[name] = key }
    }

    /// The keys of all keychains that have been unlocked, with any of which an entry may be sealed.
    var keys: [AuditKey] { state.withLock { state in Array(state.keys.values) } }

    /// The pending entries, oldest first.
    var waiting: [AuditEntry] { state.withLock { state in state.waiting.map(\.entry) } }

    /// Takes the pending entries, with one per ring for lost entries; nil when there are none or no key.
    ///
    /// - Parameter anyKey: whether the key of another keychain will do before the first unlock of `login`.
    func take(at now: Timestamp, anyKey: Bool) -> (entries: [Waiting], key: AuditKey)? {
        state.withLock { state in
            guard let key = state.key ?? (anyKey ? state.keys.first?.value : nil), !state.waiting.isEmpty else {
                return nil
            }
            var entries = state.waiting
            for (ring, count) in state.lost {
                let entry = AuditEntry(time: now, kind: .lost, outcome: "\(count) entries were lost")
                entries.append(Waiting(entry: entry, ring: ring, losses: count))
            }
            state.waiting = []
            state.counts = [:]
            state.lost = [:]
            state.isWriting = true
            return (entries, key)
        }
    }

    /// Whether all entries are on the disk.
    var isSynced: Bool { state.withLock { state in state.waiting.isEmpty && !state.isWriting } }

    /// Notes that the entries that were taken are on the disk.
    func didSync() {
        state.withLock { state in state.isWriting = false }
    }

    /// Puts entries back that could not be written, before later ones.
    func putBack(_ entries: [Waiting]) {
        state.withLock { state in
            state.isWriting = false
            let later = state.waiting
            state.waiting = []
            state.counts = [:]
            for waiting in entries + later {
                if waiting.losses > 0 {
                    state.lost[waiting.ring, default: 0] += waiting.losses
                } else {
                    _ = state.append(waiting)
                }
            }
        }
    }
}

/// Where an entry is that others replace, such as that of an event with its number of repetitions.
package final class AuditPlace: Sendable {
    private let record = Mutex<(file: ObjectIdentifier, id: RecordID)?>(nil)

    package init() {}

    /// The entry; nil if none was written to this file, as after `state` was replaced.
    func entry(in file: StateFile) -> RecordID? {
        record.withLock { record in record.flatMap { $0.file == ObjectIdentifier(file) ? $0.id : nil } }
    }

    func set(_ id: RecordID, in file: StateFile) {
        record.withLock { $0 = (ObjectIdentifier(file), id) }
    }
}

/// The key of audit entries: that of `login`, from its first unlock to the end of the process.
///
/// Before that, entries that have to be on the disk are sealed with the key of another keychain.
final class AuditKey: Sendable {
    private let key: SealingKey

    init(_ keys: CollectionKeys) throws(VaultError) {
        do throws(GcryptError) {
            key = try SealingKey(keys.auditKey)
        } catch {
            throw VaultError(error)
        }
    }

    func seal(_ entry: AuditEntry, number: Int64) throws(VaultError) -> [UInt8] {
        try cipher { () throws(GcryptError) in
            try entry.encoded.withRawBytes { (entry) throws(GcryptError) in
                try Self.place(number).withRawBytes { (place) throws(GcryptError) in
                    try key.seal(entry, associatedData: place)
                }
            }
        }
    }

    func open(_ sealed: UnsafeRawBufferPointer, number: Int64) -> AuditEntry? {
        let plaintext = try? Self.place(number).withRawBytes { (place) throws(GcryptError) in
            try key.open(sealed, associatedData: place)
        }
        return plaintext?.withUnsafeBytes { bytes in AuditEntry(decoding: bytes) }
    }

    /// The associated data of an entry: `KCHS`, 1 (4), number (8).
    private static func place(_ number: Int64) -> [UInt8] {
        var bytes = Array("KCHS".utf8)
        bytes.append(bigEndian: UInt32(1))
        bytes.append(bigEndian: number)
        return bytes
    }
}

extension Vault {
    /// Records an audit entry; returns at once and never fails.
    ///
    /// The entry is written within a second; the end of the process before that loses it, unless ``syncAudit()`` has
    /// returned. A bounded number waits for the first unlock of `login`.
    ///
    /// - Parameter place: where the entry is that this one replaces, and will be.
    package func audit(_ entry: AuditEntry, in ring: AuditRing, at place: AuditPlace? = nil) {
        guard let context, context.audit.add(entry, in: ring, at: place) else { return }
        context.folderWorker.post { folder in folder.writeAuditIfLong() }
    }

    /// Waits until all entries so far are on the disk.
    ///
    /// Throws `locked` before the first unlock of any keychain with a file, and the error of the disk; the entries are
    /// written once that is possible.
    package func syncAudit() async throws(VaultError) {
        guard let context else { throw VaultError.vaultClosed }
        guard !context.audit.isSynced else { return }
        guard !context.audit.keys.isEmpty else {
            throw VaultError(.locked, reason: "the audit cannot be written before a keychain is unlocked")
        }
        try await context.folderWorker.perform { (folder) throws(VaultError) in try folder.writeAudit(anyKey: true) }
    }

    /// Returns the audit entries of all rings, newest first; a nil `since` means all.
    ///
    /// Throws `locked` before the first unlock of `login`. Leaves out entries under the key of a deleted `login`, or
    /// of another keychain that has not been unlocked.
    package func auditEntries(
        since: Timestamp? = nil,
        limit: Int = AuditEntry.maximumCount
    ) async throws(VaultError) -> [AuditEntry] {
        guard let context else { throw VaultError.vaultClosed }
        guard context.audit.isReadable else {
            throw VaultError(.locked, reason: "the audit cannot be read before the login keychain is unlocked")
        }
        return try await context.folderWorker.perform { (folder) throws(VaultError) in
            try folder.auditEntries(since: since, limit: limit)
        }
    }
}
