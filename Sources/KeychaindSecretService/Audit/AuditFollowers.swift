package import KeychaindDBus
import KeychaindModel
package import KeychaindVault

/// The clients that follow the audit, each with the entries that it has not fetched yet.
///
/// A client fetches by calls that wait, rather than by signals: one that does not read fills no queue of the bus.
@BusActor
package final class AuditFollowers {
    private final class Follower {
        var entries: [AuditEntry] = []
        var lost = 0
        /// Delivered when there is something to fetch, or when a later call takes over.
        var wakeup = Promise<Void>()
    }

    /// Maximum number of clients.
    package nonisolated static let limit = 16

    /// Maximum number of entries kept for a client; further ones are counted.
    package nonisolated static let entryLimit = 1000

    private var followers: [String: Follower] = [:]

    package nonisolated init() {}

    package var isEmpty: Bool { followers.isEmpty }

    /// Keeps an entry for each follower.
    package func add(_ entry: AuditEntry) {
        for follower in followers.values {
            if follower.entries.count < AuditFollowers.entryLimit {
                follower.entries.append(entry)
            } else {
                follower.lost += 1
            }
            follower.wakeup.fulfill()
        }
    }

    /// Returns the entries since the last call of a client, oldest first, and waits for one if there are none.
    ///
    /// The first call of a client returns at once without entries. A call ends an earlier one that waits.
    package func entries(for client: String) async throws(BusError) -> [AuditEntry] {
        guard let follower = followers[client] else {
            guard followers.count < AuditFollowers.limit else {
                throw BusError(.limitsExceeded, "\(AuditFollowers.limit) programs follow the audit already")
            }
            followers[client] = Follower()
            return []
        }
        follower.wakeup.fulfill()
        let wakeup = Promise<Void>()
        follower.wakeup = wakeup
        if follower.entries.isEmpty { await wakeup.wait() }
        guard followers[client] === follower else { throw BusError(.noReply, "the caller has left the bus") }
        guard follower.wakeup === wakeup else { throw BusError(.failed, "a later call of yours follows the audit") }
        defer { (follower.entries, follower.lost) = ([], 0) }
        guard follower.lost > 0, let last = follower.entries.last else { return follower.entries }
        return follower.entries
            + [AuditEntry(time: last.time, kind: .lost, outcome: "\(follower.lost) entries were lost")]
    }

    /// Forgets a client that has left.
    package func leave(_ client: String) {
        followers.removeValue(forKey: client)?.wakeup.fulfill()
    }
}
