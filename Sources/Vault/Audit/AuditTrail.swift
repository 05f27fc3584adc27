import Gcrypt
import KeychainModel
import Synchronization

/// The entries of the audit that are still to be written.
///
/// Adding one takes a lock and nothing else, so that no reply waits for it. They wait for the disk, and before the first unlock of
/// login for its key; past a bound they are counted and dropped.
final class AuditTrail: Sendable {
    /// The most entries that wait.
    static let capacity = 2000

    /// From how many on they are written at once rather than in a pause.
    static let many = 256

    private struct State {
        var waiting: [AuditEntry] = []
        var lost = 0
        var key: AuditKey?
    }

    private let state = Mutex(State())

    /// Adds an entry, and tells whether the thread that writes them has to be woken.
    func add(_ entry: AuditEntry) -> Bool {
        state.withLock { state in
            guard state.waiting.count < Self.capacity else {
                state.lost += 1
                return false
            }
            state.waiting.append(entry)
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
    var waiting: [AuditEntry] { state.withLock { state in state.waiting } }

    /// Takes what waits, and an entry that says how many were lost before; nil when there is nothing or no key.
    func take(at now: Timestamp) -> (entries: [AuditEntry], key: AuditKey)? {
        state.withLock { state in
            guard let key = state.key, !state.waiting.isEmpty else { return nil }
            var entries = state.waiting
            if state.lost > 0 {
                entries.append(AuditEntry(time: now, kind: .lost, outcome: "\(state.lost) entries were lost"))
            }
            state.waiting = []
            state.lost = 0
            return (entries, key)
        }
    }

    /// Counts entries that were taken and could not be written.
    func lose(_ count: Int) {
        state.withLock { state in state.lost += count }
    }
}
