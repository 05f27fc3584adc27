import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindVault
import Testing

/// Repeated events take two entries.
struct AuditRepetitionsTests {
    private static let denial = AuditEvent(
        .denial,
        in: .unattended,
        item: item,
        policy: "userPresence",
        outcome: .failed(.notInteractive)
    )
    private static let release = AuditEvent(.release, in: .attended, item: item, policy: "userPresence")
    private static let item = ObjectPath(unchecked: "/item/1")

    private var repetitions = AuditRepetitions()

    private mutating func add(_ event: AuditEvent, by caller: String = "a", at seconds: Int) -> [String] {
        repetitions.add(event, by: caller, at: Self.time(seconds), now: .seconds(seconds)).map(\.entry.outcome)
    }

    private static func time(_ seconds: Int) -> Timestamp {
        Timestamp(microsecondsSinceEpoch: Int64(seconds) * 1_000_000)
    }

    @Test("repetitions are counted and written at the end")
    mutating func add_again_isCounted_andWrittenAtTheEnd() {
        #expect(add(Self.denial, at: 0) == ["notInteractive"])
        for second in 1...9000 { #expect(add(Self.denial, at: second % 3600).isEmpty) }
        #expect(repetitions.nextDeadline == .seconds(3600))
        #expect(repetitions.takeEnded(at: .seconds(3599)).isEmpty)
        let expected = AuditEntry(
            time: Self.time(3599),
            kind: .denial,
            caller: "a",
            item: "/item/1",
            policy: "userPresence",
            outcome: "notInteractive × 9000"
        )
        #expect(repetitions.lines.map(\.entry) == [expected])
        let ended = repetitions.takeEnded(at: .seconds(3600))
        #expect(ended.map(\.entry) == [expected] && ended.map(\.ring) == [.unattended])
        #expect(repetitions.nextDeadline == nil)
        #expect(add(Self.denial, at: 3601) == ["notInteractive"])
    }

    @Test("one repetition is written without a count")
    mutating func add_onceMore_isNoNumber() {
        _ = add(Self.release, at: 0)
        _ = add(Self.release, at: 1)
        #expect(repetitions.takeEnded(at: .seconds(60)).map(\.entry.outcome) == ["success"])
    }

    @Test("a single event is written once")
    mutating func add_onlyOnce_isWrittenOnce() {
        _ = add(Self.release, at: 0)
        #expect(repetitions.lines.isEmpty)
        #expect(repetitions.takeEnded(at: .seconds(60)).isEmpty)
    }

    @Test("different events are separate entries")
    mutating func add_whatDiffers_isToldApart() {
        #expect(add(Self.denial, at: 0).count == 1)
        #expect(add(Self.denial, by: "b", at: 0).count == 1)
        #expect(add(Self.release, at: 0).count == 1)
        let behindTheScreen = AuditEvent(.denial, in: .unattended, item: Self.item, outcome: .sessionLocked)
        #expect(add(behindTheScreen, at: 0) == ["sessionLocked"])
    }

    @Test("above the limit of different events, they are counted together")
    mutating func add_tooManyDifferent_areCountedWithoutTellingApart() {
        let limit = AuditRepetitions.differentPerCaller
        func denial(_ number: Int) -> AuditEvent {
            AuditEvent(.denial, in: .unattended, item: ObjectPath("/item/\(number)"), outcome: .failed(.notInteractive))
        }
        var written: [AuditRepetitions.Line] = []
        for number in 0..<limit + 5000 {
            written += repetitions.add(denial(number), by: "a", at: Self.time(number), now: .zero)
        }
        #expect(written.count == limit + 1)
        #expect(written.last?.entry.item == "")
        #expect(repetitions.lines.map(\.entry.outcome) == ["notInteractive × 4999"])
        // Other callers have their own limit, and entries with a dialog have none.
        #expect(add(denial(0), by: "b", at: 0).count == 1)
        #expect(add(Self.release, at: 0) == ["success"])
        // After the time window, this caller can write again.
        _ = repetitions.takeEnded(at: AuditRepetitions.window(of: .unattended))
        #expect(repetitions.add(denial(0), by: "a", at: Self.time(0), now: .zero).map(\.entry.item) == ["/item/0"])
    }

    @Test("above the limit of series, all are written")
    mutating func add_tooManySeries_writesAll() {
        for number in 0..<AuditRepetitions.limit { _ = add(Self.denial, by: "\(number)", at: 0) }
        _ = add(Self.denial, by: "7", at: 1)
        #expect(add(Self.denial, by: "one more", at: 2) == ["notInteractive", "notInteractive"])
        #expect(repetitions.lines.isEmpty)
    }

    @Test("all series are returned, the oldest first")
    mutating func takeAll_isTheOldestFirst() {
        for caller in ["a", "b", "c"] { _ = add(Self.release, by: caller, at: 0) }
        for (second, caller) in ["c", "a", "b"].enumerated() { _ = add(Self.release, by: caller, at: second) }
        #expect(repetitions.takeAll().map(\.entry.caller) == ["c", "a", "b"])
        #expect(repetitions.takeAll().isEmpty)
    }
}
