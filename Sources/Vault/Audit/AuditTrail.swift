import Gcrypt
import KeychainModel
import Synchronization

/// The audit entries to be written.
///
/// Adding one only takes a lock, so no reply waits. Entries wait for the disk, and for the audit key until `login` is
/// first unlocked; past a limit they are counted and dropped.
final class AuditTrail: Sendable {
    /// A pending entry.
    struct Waiting: Sendable {
        let entry: AuditEntry
        let ring: AuditRing
        /// The number of events it stands for; more than one if it counts lost entries.
        var weight = 1
    }

    /// The most pending entries of a ring.
    static let capacity = 2000

    /// The number of pending entries that are written without waiting for a pause.
    static let many = 256

    private struct State {
        var waiting: [Waiting] = []
        var counts: [AuditRing: Int] = [:]
        var lost: [AuditRing: Int] = [:]
        var key: AuditKey?
    }

    private let state = Mutex(State())

    /// Adds an entry; true when the writing thread must be woken.
    func add(_ entry: AuditEntry, in ring: AuditRing) -> Bool {
        state.withLock { state in
            guard state.counts[ring, default: 0] < Self.capacity else {
                state.lost[ring, default: 0] += 1
                return false
            }
            state.counts[ring, default: 0] += 1
            state.waiting.append(Waiting(entry: entry, ring: ring))
            return state.key != nil && (state.waiting.count == 1 || state.waiting.count == Self.many)
        }
    }

    /// Whether the entries should be written at once.
    var isLong: Bool { state.withLock { state in state.waiting.count >= Self.many } }

    /// The audit key; nil before the first unlock of `login`.
    var key: AuditKey? {
        get { state.withLock { state in state.key } }
        set { state.withLock { state in state.key = newValue } }
    }

    /// The pending entries, oldest first.
    var waiting: [AuditEntry] { state.withLock { state in state.waiting.map(\.entry) } }

    /// Takes the pending entries, with one per ring for lost entries; nil when there are none or no key.
    func take(at now: Timestamp) -> (entries: [Waiting], key: AuditKey)? {
        state.withLock { state in
            guard let key = state.key, !state.waiting.isEmpty else { return nil }
            var entries = state.waiting
            for (ring, count) in state.lost {
                let entry = AuditEntry(time: now, kind: .lost, outcome: "\(count) entries were lost")
                entries.append(Waiting(entry: entry, ring: ring, weight: count))
            }
            state.waiting = []
            state.counts = [:]
            state.lost = [:]
            return (entries, key)
        }
    }

    /// Counts entries as lost after a failed write.
    func lose(_ entries: [Waiting]) {
        state.withLock { state in
            for waiting in entries { state.lost[waiting.ring, default: 0] += waiting.weight }
        }
    }
}
