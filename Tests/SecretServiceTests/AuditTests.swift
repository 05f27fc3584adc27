import Authentication
import DBus
import Foundation
import KeychainModel
import Logging
import SecretService
import TestSupport
import Testing
import Vault

/// What is written down of protected items, and who may read it.
struct AuditTests {
    // MARK: On the bus

    @Test
    func read_afterDenials_tellsOfEachItemOnceAndNoSecrets() async throws {
        try await RunningService.withService { service in
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createItem(
                "Label that nobody else sees",
                ["service": "bank", "keychain:access-control": "userPresence"],
                session: session
            )
            for _ in 0..<3 {
                await #expect(throws: BusError.self) { _ = try await service.client.secret(of: item, session: session) }
            }
            let entries = try await service.waitForEntries { $0.contains { $0.kind == "denial" } }
            let denials = entries.filter { $0.kind == "denial" }
            #expect(denials.count == 1)
            let denial = try #require(denials.first)
            #expect(denial.item == item.rawValue)
            #expect(denial.policy == "userPresence")
            #expect(denial.outcome == "notInteractive")
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            #expect(denial.caller.hasSuffix("(process \(getpid()))"))
            #expect(denial.caller.hasPrefix("“" + program.prefix(20)))
            #expect(CallerEvidence(rawValue: denial.evidence) != nil)
            #expect(abs(Double(denial.time) / 1e6 - Date().timeIntervalSince1970) < 600)
            #expect(!entries.contains { "\($0)".contains("Label") || "\($0)".contains("bank") })
        }
    }

    @Test
    func read_sinceAndLimit_areKept() async throws {
        try await RunningService.withService { service in
            let session = try await service.client.openPlainSession()
            for number in 0..<3 {
                let item = try await service.client.createItem(
                    "\(number)",
                    ["number": "\(number)", "keychain:access-control": "userPresence"],
                    session: session
                )
                _ = try? await service.client.secret(of: item, session: session)
            }
            let all = try await service.waitForEntries { $0.count { $0.kind == "denial" } == 3 }
            #expect(all.map(\.time) == all.map(\.time).sorted(by: >))
            #expect(all.count { $0.kind == "access-control-change" && $0.policy == "userPresence" } == 3)
            #expect(try await service.entries(limit: 1) == Array(all.prefix(1)))
            #expect(try await service.entries(since: all[0].time + 1) == [])
            #expect(try await service.entries(since: .max, limit: .max) == [])
        }
    }

    @Test
    func read_neverUnlocked_isLocked() async throws {
        try await RunningService.withService { service in
            try await service.daemon.restart(KeychainDaemon.Options(password: nil))
            await #expect(throws: BusError(ErrorName(rawValue: "org.freedesktop.Secret.Error.IsLocked"), "")) {
                _ = try await service.entries()
            }
        }
    }

    @Test
    func read_wrongArguments_areRefused() async throws {
        try await RunningService.withService { service in
            _ = await #expect(throws: BusError(.invalidArguments, "")) {
                try await service.client.call(AuditTests.path, AuditTests.interface, "Read", "all")
            }
        }
    }

    @Test
    func interface_isThatOfItsFile() async throws {
        try await RunningService.withService { service in
            let live = try await service.client.introspect(AuditTests.path)
            let file = URL(fileURLWithPath: #filePath)
                .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("dbus/\(AuditTests.interface).xml")
            let expected = try Introspection(xml: String(contentsOf: file, encoding: .utf8))
            #expect(live.members[AuditTests.interface] == expected.members[AuditTests.interface])
            let parent = try await service.client.introspect(ObjectPath(unchecked: "/org/keychaind"))
            #expect(parent.children.contains("Audit"))
        }
    }

    static let path = ObjectPath(unchecked: "/org/keychaind/Audit")
    static let interface = "org.keychaind.Audit1"

    // MARK: Writing down

    @Test @BusActor
    func record_callerUnknown_isOpaqueAndHasTheTimeOfTheEvent() async throws {
        let bus = try await PrivateBus()
        let connection = try bus.connect()
        defer { connection.close() }
        let callers = CallerDirectory(
            connection: connection,
            logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let entries = Recorder<AuditEntry>()
        let time = Timestamp(microsecondsSinceEpoch: 4711)
        let recorder = AuditRecorder(callers: callers, now: { time }, write: { entries.record($0) })
        recorder.record(.authentication, caller: ":1.4711", policy: "devicePasscode", error: .userCancel)
        let entry = try await entries.first("the entry")
        #expect(entry.time == time)
        #expect(entry.caller == "an unknown program (the bus does not know it any more) [nothing]")
        #expect((entry.item, entry.policy, entry.outcome) == ("", "devicePasscode", "userCancel"))
    }

    @Test(
        arguments: [
            ("/bin/x (process 1) [system-program]", "/bin/x (process 1)", "system-program"),
            ("a [system-program] [own-program]", "a [system-program]", "own-program"),
            ("no evidence", "no evidence", "nothing"), ("", "", "nothing"), ("[]", "[]", "nothing"),
            ("]", "]", "nothing"),
            ("x]", "x]", "nothing"),
        ]
    )
    func auditedCaller_isReadFromItsEnd(packed: String, text: String, evidence: String) {
        let caller = AuditedCaller(packed: packed)
        #expect(caller.text == text)
        #expect(caller.evidence == evidence)
    }
}

/// An entry as it comes over the bus.
private struct ReadEntry: Equatable, BusValue {
    let time: UInt64
    let kind, caller, evidence, item, policy, outcome: String

    static var signature: String { "(tssssss)" }

    init(from reader: inout Reader) throws(BusError) {
        self = try reader.readStructure { (reader) throws(BusError) in
            ReadEntry(
                time: try UInt64(from: &reader),
                kind: try String(from: &reader),
                caller: try String(from: &reader),
                evidence: try String(from: &reader),
                item: try String(from: &reader),
                policy: try String(from: &reader),
                outcome: try String(from: &reader)
            )
        }
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
    fileprivate func entries(since: UInt64 = 0, limit: UInt32 = 0) async throws -> [ReadEntry] {
        try await client.call(AuditTests.path, AuditTests.interface, "Read", since, limit).read([ReadEntry].self)
    }

    /// Reads until what is looked for is there: entries are written behind the replies.
    fileprivate func waitForEntries(_ isComplete: ([ReadEntry]) -> Bool) async throws -> [ReadEntry] {
        while true {
            let entries = try await entries()
            if isComplete(entries) { return entries }
        }
    }
}
