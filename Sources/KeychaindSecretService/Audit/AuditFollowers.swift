package import KeychaindDBus
import KeychaindModel
package import KeychaindVault

/// The clients that follow the audit, however many, and the last entries, which they share.
///
/// A client fetches by calls that wait, rather than by signals: one that does not read fills no queue of the bus.
@BusActor
package final class AuditFollowers {
    private final class Follower {
        /// The number of the first entry that it has not fetched.
        var next: Int
        /// Delivered when there is something to fetch, or when a later call takes over.
        var wakeup = Promise<Void>()

        init(from next: Int) {
            self.next = next
        }
    }

    /// Maximum number of entries kept; of earlier ones, a client hears how many it has missed.
    package nonisolated static let entryLimit = 1000

    private var followers: [String: Follower] = [:]
    /// The last entries, each at the remainder of its number divided by the limit.
    private var entries: [AuditEntry] = []
    /// The number of the next entry.
    private var end = 0

    package nonisolated init() {}

    package var isEmpty: Bool { followers.isEmpty }

    /// Keeps an entry for the followers.
    package func add(_ entry: AuditEntry) {
        if entries.count < AuditFollowers.entryLimit {
            entries.append(entry)
        } else {
            entries[end % AuditFollowers.entryLimit] = entry
        }
        end += 1
        for follower in followers.values { follower.wakeup.fulfill() }
    }

    /// Returns the entries since the last call of a client, oldest first, and waits for one if there are none.
    ///
    /// The first call of a client returns at once without entries. A call ends an earlier one that waits.
    package func entries(for client: String) async throws(BusError) -> [AuditEntry] {
        guard let follower = followers[client] else {
            followers[client] = Follower(from: end)
            return []
        }
        follower.wakeup.fulfill()
        let wakeup = Promise<Void>()
        follower.wakeup = wakeup
        if follower.next == end { await wakeup.wait() }
        guard followers[client] === follower else { throw BusError(.noReply, "the caller has left the bus") }
        guard follower.wakeup === wakeup else { throw BusError(.failed, "a later call of yours follows the audit") }
        defer { follower.next = end }
        return entries(since: follower.next)
    }

    private func entries(since start: Int) -> [AuditEntry] {
        let first = max(start, end - entries.count)
        let kept = (first..<end).map { number in entries[number % AuditFollowers.entryLimit] }
        guard first > start, let time = kept.first?.time else { return kept }
        return [AuditEntry(time: time, kind: .lost, outcome: "\(first - start) entries were lost")] + kept
    }

    /// Forgets a client that has left.
    package func leave(_ client: String) {
        followers.removeValue(forKey: client)?.wakeup.fulfill()
        if followers.isEmpty { (entries, end) = ([], 0) }
    }
}
