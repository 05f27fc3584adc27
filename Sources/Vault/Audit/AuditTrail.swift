import Gcrypt
import KeychainModel
import Synchronization

/// The entries of the audit that are still to be written.
///
/// Adding one takes a lock and nothing else, so that no reply waits for it. They wait for the disk, and before the first unlock of
/// login for its key; past a bound they are counted and dropped.
final class AuditTrail: Sendable {
    /// An entry that waits.
    struct Waiting: Sendable {
        let entry: AuditEntry
        let ring: AuditRing
        /// How many are lost with it: more than itself if it says that others were.
        var weight = 1
    }

    /// The most entries of a ring that wait.
    static let capacity = 2000

    /// From how many on they are written at once rather than in a pause.
    static let many = 256

    private struct State {
        var waiting: [Waiting] = []
        var counts: [AuditRing: Int] = [:]
        var lost: [AuditRing: Int] = [:]
        var key: AuditKey?
    }

    private let state = Mutex(State())

    /// Adds an entry, and tells whether the thread that writes them has to be woken.
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

    /// Whether so many wait that they should not wait for a pause.
    var isLong: Bool { state.withLock { state in state.waiting.count >= Self.many } }

    /// The key; nil before the first unlock of login.
    var key: AuditKey? {
        get { state.withLock { state in state.key } }
        set { state.withLock { state in state.key = newValue } }
    }

    /// What waits, the oldest first.
    var waiting: [AuditEntry] { state.withLock { state in state.waiting.map(\.entry) } }

    /// Takes what waits, and for each ring an entry that says how many were lost before; nil when there is nothing or no key.
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

    /// Counts entries that were taken and could not be written.
    func lose(_ entries: [Waiting]) {
        state.withLock { state in
            for waiting in entries { state.lost[waiting.ring, default: 0] += waiting.weight }
        }
    }
}
