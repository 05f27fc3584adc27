import KeychaindDBus
package import KeychaindModel
package import KeychaindVault

/// Counts repeated events, so that they take two audit entries instead of thousands.
///
/// The first event of a series is written at once. Its repetitions within a time window become one entry. Events that
/// take no person have a longer window; past a number of different ones, they are counted without their item.
package struct AuditRepetitions {
    /// An entry to write.
    package struct Line: Sendable {
        package let entry: AuditEntry
        package let ring: AuditRing
    }

    /// Events that are counted together.
    private struct Series: Hashable {
        let event: AuditEvent
        let caller: String
    }

    private struct Count {
        let deadline: Duration
        var count = 0
        var last: Timestamp
    }

    /// Maximum number of unattended series per caller; beyond it, items are not told apart.
    package static let differentPerCaller = 100

    /// Maximum number of series; beyond it, all are written.
    package static let limit = 4096

    private var counts: [Series: Count] = [:]
    private var different: [String: Int] = [:]

    /// The time at which the next entry is due; nil if nothing is counted.
    package private(set) var nextDeadline: Duration?

    package init() {}

    /// The window in which repetitions are counted.
    package static func window(of ring: AuditRing) -> Duration {
        switch ring {
        case .attended: .seconds(60)
        case .unattended: .seconds(60 * 60)
        }
    }

    /// Adds an event, and returns the entries to write now.
    ///
    /// - Parameters:
    ///   - caller: the description, equal for all connections of a process.
    ///   - time: the time of the entry.
    ///   - now: the time that deadlines start from.
    package mutating func add(
        _ event: AuditEvent,
        by caller: String,
        at time: Timestamp,
        now: Duration
    ) -> [Line] {
        var series = Series(event: event, caller: caller)
        if event.ring == .unattended, counts[series] == nil,
            different[caller, default: 0] >= AuditRepetitions.differentPerCaller
        {
            series = Series(event: event.withoutItem, caller: caller)
        }
        if let counted = counts[series] {
            // Caller lookups may finish out of order.
            counts[series]?.last = max(counted.last, time)
            counts[series]?.count += 1
            return []
        }
        var lines = counts.count < AuditRepetitions.limit ? [] : takeAll()
        let deadline = now + AuditRepetitions.window(of: event.ring)
        counts[series] = Count(deadline: deadline, last: time)
        if event.ring == .unattended { different[caller, default: 0] += 1 }
        nextDeadline = min(nextDeadline ?? deadline, deadline)
        lines.append(AuditRepetitions.line(series, 1, at: time))
        return lines
    }

    /// The counts so far, oldest first.
    package var lines: [Line] {
        counts.filter { $0.value.count > 0 }
            .map { AuditRepetitions.line($0.key, $0.value.count, at: $0.value.last) }
            .sorted { $0.entry.time < $1.entry.time }
    }

    /// Removes and returns the counts whose window has ended, oldest first.
    package mutating func takeEnded(at now: Duration) -> [Line] {
        take { $0.deadline <= now }
    }

    /// Removes and returns all counts, oldest first.
    package mutating func takeAll() -> [Line] {
        take { _ in true }
    }

    private mutating func take(_ isTaken: (Count) -> Bool) -> [Line] {
        var ended = AuditRepetitions()
        ended.counts = counts.filter { isTaken($0.value) }
        for series in ended.counts.keys {
            counts[series] = nil
            guard series.event.ring == .unattended, let count = different[series.caller] else { continue }
            different[series.caller] = count > 1 ? count - 1 : nil
        }
        nextDeadline = counts.values.map(\.deadline).min()
        return ended.lines
    }

    /// The entry of a single event.
    static func entry(of event: AuditEvent, by caller: String, at time: Timestamp) -> AuditEntry {
        line(Series(event: event, caller: caller), 1, at: time).entry
    }

    private static func line(_ series: Series, _ count: Int, at time: Timestamp) -> Line {
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
        return Line(entry: entry, ring: series.event.ring)
    }
}
