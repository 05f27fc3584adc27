import KeychaindDBus
import KeychaindTestSupport

/// An entry as sent over the bus.
struct ReadEntry: Equatable, BusValue {
    let time: UInt64
    let kind, caller, evidence, item, policy, outcome: String

    static var signature: String { "(tssssss)" }

    init(from reader: inout Reader) throws(BusError) {
        self = try reader.readStructure { (reader) throws(BusError) in try ReadEntry(fields: &reader) }
    }

    init(fields reader: inout Reader) throws(BusError) {
        self.init(
            time: try UInt64(from: &reader),
            kind: try String(from: &reader),
            caller: try String(from: &reader),
            evidence: try String(from: &reader),
            item: try String(from: &reader),
            policy: try String(from: &reader),
            outcome: try String(from: &reader)
        )
    }

    private init(
        time: UInt64,
        kind: String,
        caller: String,
        evidence: String,
        item: String,
        policy: String,
        outcome: String
    ) {
        (self.time, self.kind, self.caller, self.evidence) = (time, kind, caller, evidence)
        (self.item, self.policy, self.outcome) = (item, policy, outcome)
    }

    func write(to writer: inout Writer) {}
}

extension RunningService {
    func entries(since: UInt64 = 0, limit: UInt32 = 0) async throws -> [ReadEntry] {
        try await client.call(AuditTests.path, AuditTests.interface, "Read", since, limit).read([ReadEntry].self)
    }

    /// Reads until an entry matches: entries are written after the replies.
    func waitForEntries(_ isComplete: ([ReadEntry]) -> Bool) async throws -> [ReadEntry] {
        var entries: [ReadEntry] = []
        try await eventually("the entries") {
            entries = try await self.entries()
            return isComplete(entries)
        }
        return entries
    }
}
