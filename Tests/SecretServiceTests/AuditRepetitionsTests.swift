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

    private mutating func add(_ event: AuditEvent, by caller: String = "a", at seconds: Int) -> AuditRepetitions.Line {
        repetitions.add(event, by: caller, at: Self.time(seconds), now: .seconds(seconds))
    }

    private static func time(_ seconds: Int) -> Timestamp {
        Timestamp(microsecondsSinceEpoch: Int64(seconds) * 1_000_000)
    }

    @Test("repetitions have one entry, which each of them replaces")
    mutating func add_again_replacesTheEntry() {
        let first = add(Self.denial, at: 0)
        #expect(first.entry.outcome == "notInteractive" && first.place == nil)
        let second = add(Self.denial, at: 1)
        #expect(second.entry.outcome == "notInteractive" && second.place != nil)
        for second in 2..<9000 { _ = add(Self.denial, at: second % 3600) }
        let last = add(Self.denial, at: 3599)
        let expected = AuditEntry(
            time: Self.time(3599),
            kind: .denial,
            caller: "a",
            item: "/item/1",
            policy: "userPresence",
            outcome: "notInteractive × 9000"
        )
        #expect(last.entry == expected && last.ring == .unattended && last.place === second.place)
        #expect(add(Self.denial, at: 3600).place == nil)
    }

    @Test("different events are separate entries")
    mutating func add_whatDiffers_isToldApart() {
        let behindTheScreen = AuditEvent(.denial, in: .unattended, item: Self.item, outcome: .sessionLocked)
        let lines = [
            add(Self.denial, at: 0), add(Self.denial, by: "b", at: 0), add(Self.release, at: 0),
            add(behindTheScreen, at: 0),
        ]
        #expect(lines.allSatisfy { $0.place == nil })
    }

    @Test("above the limit of different events, they are counted together")
    mutating func add_tooManyDifferent_areCountedWithoutTellingApart() {
        let limit = AuditRepetitions.differentPerCaller
        func denial(_ number: Int) -> AuditEvent {
            AuditEvent(.denial, in: .unattended, item: ObjectPath("/item/\(number)"), outcome: .failed(.notInteractive))
        }
        let lines = (0..<limit + 5000).map { number in
            repetitions.add(denial(number), by: "a", at: Self.time(number), now: .zero)
        }
        #expect(lines.count { $0.place == nil } == limit + 1)
        #expect(lines.last?.entry.item == "")
        #expect(lines.last?.entry.outcome == "notInteractive × 4999")
        // Other callers have their own limit, and entries with a dialog have none.
        #expect(add(denial(0), by: "b", at: 0).place == nil)
        #expect(add(Self.release, at: 0).place == nil)
        // After the time window, this caller can write again.
        let later = repetitions.add(
            denial(0),
            by: "a",
            at: Self.time(0),
            now: AuditRepetitions.window(of: .unattended)
        )
        #expect(later.entry.item == "/item/0")
    }

    @Test("above the limit of series, counting begins anew")
    mutating func add_tooManySeries_beginsAnew() {
        for number in 0..<AuditRepetitions.limit { _ = add(Self.denial, by: "\(number)", at: 0) }
        #expect(add(Self.denial, by: "7", at: 1).place != nil)
        #expect(add(Self.denial, by: "one more", at: 2).place == nil)
        #expect(add(Self.denial, by: "7", at: 3).place == nil)
    }
}
