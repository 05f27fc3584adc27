import DBus
package import KeychainModel
package import Vault

/// Counts what a program does again and again, so that it takes two entries of the audit and not thousands.
///
/// The first of a kind is written at once. Those that follow within a while are counted, and what was counted is one entry at the
/// end of it. What a program can do without a person is counted for longer; and past so many different things, without telling
/// apart what each was about.
package struct AuditRepetitions {
    /// An entry that is to be written.
    package struct Line: Sendable {
        package let entry: AuditEntry
        package let ring: AuditRing
    }

    /// What is counted together.
    private struct Series: Hashable {
        let event: AuditEvent
        let caller: String
    }

    private struct Count {
        let deadline: Duration
        var count = 0
        var last: Timestamp
    }

    /// How many different things of a caller are told apart, of those that take no person.
    package static let differentPerCaller = 100

    /// How many series are counted at a time; past that, all are written.
    package static let limit = 4096

    private var counts: [Series: Count] = [:]
    private var different: [String: Int] = [:]

    /// When there is next something to be written; nil if nothing is counted.
    package private(set) var nextDeadline: Duration?

    /// Counts nothing yet.
    package init() {}

    /// How long repetitions are counted.
    package static func window(of ring: AuditRing) -> Duration {
        switch ring {
        case .attended: .seconds(60)
        case .unattended: .seconds(60 * 60)
        }
    }

    /// Takes an event down, and gives what is to be written now.
    ///
    /// - Parameters:
    ///   - caller: in words; the same for all connections of a process.
    ///   - time: for the entry.
    ///   - now: for the deadline.
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
            // Who the caller of the first was may have been found out last.
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

    /// What has been counted so far, the oldest first.
    package var lines: [Line] {
        counts.filter { $0.value.count > 0 }
            .map { AuditRepetitions.line($0.key, $0.value.count, at: $0.value.last) }
            .sorted { $0.entry.time < $1.entry.time }
    }

    /// Takes what was counted and has come to its end, the oldest first.
    package mutating func takeEnded(at now: Duration) -> [Line] {
        take { $0.deadline <= now }
    }

    /// Takes all that was counted, the oldest first.
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

    private static func line(_ series: Series, _ count: Int, at time: Timestamp) -> Line {
        let outcome = series.event.outcome.name
        let entry = AuditEntry(
            time: time,
            kind: series.event.kind,
            caller: series.caller,
            item: series.event.item?.rawValue ?? "",
            policy: series.event.policy,
            outcome: count > 1 ? "\(outcome) × \(count)" : outcome
        )
        return Line(entry: entry, ring: series.event.ring)
    }
}
