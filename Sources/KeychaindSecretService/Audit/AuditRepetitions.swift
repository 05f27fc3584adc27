import KeychaindDBus
package import KeychaindModel
package import KeychaindVault

/// Counts repeated events, so that they take two audit entries instead of thousands.
///
/// The first event of a series has an entry of its own. Its repetitions within a time window have one together, which
/// each of them replaces. Events that take no person have a longer window; past a number of different ones, they are
/// counted without their item.
package struct AuditRepetitions {
    /// An entry to write.
    package struct Line: Sendable {
        package let entry: AuditEntry
        package let ring: AuditRing
        /// Where the entry of repetitions is that this one replaces.
        package let place: AuditPlace?
    }

    /// Events that are counted together.
    private struct Series: Hashable {
        let event: AuditEvent
        let caller: String
    }

    private struct Count {
        let deadline: Duration
        let place = AuditPlace()
        var count = 0
        var last: Timestamp
    }

    /// Maximum number of unattended series per caller; beyond it, items are not told apart.
    package static let differentPerCaller = 100

    /// Maximum number of series; beyond it, counting begins anew.
    package static let limit = 4096

    private var counts: [Series: Count] = [:]
    private var different: [String: Int] = [:]

    /// The first end of a window; nil if nothing is counted.
    private var nextDeadline: Duration?

    package init() {}

    /// The window in which repetitions are counted.
    package static func window(of ring: AuditRing) -> Duration {
        switch ring {
        case .attended: .seconds(60)
        case .unattended: .seconds(60 * 60)
        }
    }

    /// Adds an event, and returns the entry to write.
    ///
    /// - Parameters:
    ///   - caller: the description, equal for all connections of a process.
    ///   - time: the time of the entry.
    ///   - now: the time that windows start from.
    package mutating func add(
        _ event: AuditEvent,
        by caller: String,
        at time: Timestamp,
        now: Duration
    ) -> Line {
        removeEnded(at: now)
        var series = Series(event: event, caller: caller)
        if event.ring == .unattended, counts[series] == nil,
            different[caller, default: 0] >= AuditRepetitions.differentPerCaller
        {
            series = Series(event: event.withoutItem, caller: caller)
        }
        if var counted = counts[series] {
            // Caller lookups may finish out of order.
            counted.last = max(counted.last, time)
            counted.count += 1
            counts[series] = counted
            return AuditRepetitions.line(series, counted.count, at: counted.last, in: counted.place)
        }
        if counts.count >= AuditRepetitions.limit { self = AuditRepetitions() }
        let deadline = now + AuditRepetitions.window(of: event.ring)
        counts[series] = Count(deadline: deadline, last: time)
        if event.ring == .unattended { different[caller, default: 0] += 1 }
        nextDeadline = min(nextDeadline ?? deadline, deadline)
        return AuditRepetitions.line(series, 1, at: time)
    }

    private mutating func removeEnded(at now: Duration) {
        guard let first = nextDeadline, first <= now else { return }
        for series in counts.filter({ $0.value.deadline <= now }).keys {
            counts[series] = nil
            guard series.event.ring == .unattended, let count = different[series.caller] else { continue }
            different[series.caller] = count > 1 ? count - 1 : nil
        }
        nextDeadline = counts.values.map(\.deadline).min()
    }

    /// The entry of a single event.
    static func entry(of event: AuditEvent, by caller: String, at time: Timestamp) -> AuditEntry {
        line(Series(event: event, caller: caller), 1, at: time).entry
    }

    private static func line(_ series: Series, _ count: Int, at time: Timestamp, in place: AuditPlace? = nil) -> Line {
        let outcome = series.event.outcome.name
        let entry = AuditEntry(
            time: time,
            kind: series.event.kind,
            caller: series.caller,
            item: series.event.item?.rawValue ?? "",
            policy: series.event.policy,
            outcome: count > 1 ? "\(outcome) × \(count)" : outcome,
            rule: series.event.rule
        )
        return Line(entry: entry, ring: series.event.ring, place: place)
    }
}
