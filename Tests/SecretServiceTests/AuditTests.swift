import Foundation
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Logging
import Testing

/// The audit log of protected items, and who may read it.
struct AuditTests {
    // MARK: On the bus

    @Test("denials of an item are counted, without its label and secret")
    func read_afterDenials_countsThoseOfAnItemAndTellsNoSecrets() async throws {
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
            let isCounted = { (entries: [ReadEntry]) in entries.contains { $0.outcome == "notInteractive × 2" } }
            let entries = try await service.waitForEntries(isCounted)
            let denials = entries.filter { $0.kind == "denial" }
            #expect(denials.count == 2)
            let denial = try #require(denials.last)
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

    @Test("what secret-tool changes is recorded under its name, though it ends with the answer")
    func change_bySecretTool_namesIt() async throws {
        try await RunningService.withService { service in
            for number in 0..<5 {
                let attributes = ["site", "bank \(number)", "keychain:access-control", "userPresence"]
                let stored = try await Command.run(
                    "secret-tool",
                    ["store", "--label=Bank"] + attributes,
                    environment: service.daemon.environment,
                    input: Array("secret".utf8)
                )
                #expect(stored.succeeded, "\(stored.errors)")
            }
            let entries = try await service.waitForEntries { $0.count >= 5 }
            #expect(entries.count == 5)
            for entry in entries {
                #expect(entry.kind == "access-control-change")
                #expect(entry.caller.hasPrefix("“/usr/bin/secret-tool” (process "))
                #expect(entry.evidence == "system-program")
            }
        }
    }

    @Test("evaluations without a dialog are counted in one entry")
    func evaluations_thatAskNobody_areCountedInOne() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            _ = try await service.unlock([item], as: client)
            #expect(try await client.secretText(of: item, session: session) == "secret")
            for _ in 0..<3 {
                let context = try await ContextClient(client)
                try await context.set("InteractionNotAllowed", to: .boolean(true))
                for _ in 0..<100 {
                    await #expect(throws: BusError.authentication("NotInteractive")) { try await context.evaluate() }
                }
            }
            let entries = try await service.entries()
            let evaluations = entries.filter { $0.kind == "authentication" && $0.outcome != "success" }
            #expect(evaluations.map(\.outcome) == ["notInteractive × 299", "notInteractive"])
            #expect(entries.map(\.kind).filter { $0 == "release" } == ["release"])
        }
    }

    @Test("a program that supplies the password of its own item cannot displace what takes a person")
    func release_withASuppliedPassword_isAmongWhatTakesNoPerson() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let context = try await ContextClient(client)
            try await context.setCredential("own", session: session)
            var properties = SecretServiceProxy.itemProperties(
                label: "Own",
                ["n": "own", Reserved.accessControl: "applicationPassword"]
            )
            properties["org.keychaind.Item1.Context"] = .objectPath(context.path)
            let secret = WireSecret(session: session, value: [1])
            let item = try await client.createItem(properties: properties, secret: secret).item
            // After so many different ones, only events that take no person are counted without their item.
            for number in 1..<AuditRepetitions.differentPerCaller {
                _ = try await client.createProtectedItem("Bank", ["n": "\(number)"], session: session)
            }
            _ = try await service.waitForEntries { $0.count >= AuditRepetitions.differentPerCaller }
            #expect(try await context.unlock([item]).unlocked == [item])
            _ = try await client.secret(of: item, session: session)
            let entries = try await service.waitForEntries { $0.contains { $0.kind == "release" } }
            #expect(entries.filter { $0.kind == "authentication" || $0.kind == "release" }.map(\.item) == ["", ""])
        }
    }

    @Test("deletions and changes of protected items are logged")
    func deletionsAndChanges_ofProtectedItems_areTold() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let plain = try await client.createItem("Plain", ["k": "plain"], session: session)
            var items: [ObjectPath] = []
            for name in ["granted", "prompted"] {
                items.append(try await client.createProtectedItem("Bank", ["k": name], session: session))
            }
            let other = try await client.createItem(in: .sessionCollection, "Other", session: session)
            _ = try await service.unlock(items, as: client)
            try await client.setSecret(WireSecret(session: session, value: [1]), of: items[0])
            #expect(try await !client.complete(client.deleteItem(items[0])).isDismissed)
            try await client.lock([items[1]])
            #expect(try await !client.complete(client.deleteItem(items[1])).isDismissed)
            for item in [plain, other] { #expect(try await client.deleteItem(item) == .root) }
            let entries = try await service.waitForEntries { $0.count { $0.kind == "deletion" } == 2 }
            #expect(entries.filter { $0.kind == "deletion" }.map(\.item) == items.reversed().map(\.rawValue))
            #expect(entries.filter { $0.kind == "change" }.map(\.item) == [items[0].rawValue])
            #expect(entries.filter { $0.kind == "authentication" }.map(\.item) == items.reversed().map(\.rawValue))
            #expect(entries.filter { $0.kind == "authentication-to-change" }.map(\.item) == [items[0].rawValue])
            #expect(entries.count { $0.kind == "authentication-to-delete" } == 2)
            #expect(
                entries.filter { ["deletion", "change"].contains($0.kind) }.allSatisfy { $0.policy == "userPresence" }
            )
        }
    }

    @Test("the deletion of a keychain with protected items is logged")
    func deletionOfAKeychain_withProtectedItems_isTold() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let work = try await service.createCollection("Work")
            let prompter = try await FakePrompter(on: service.bus, [.answer("")])
            let item = try await client.createItem(
                in: work,
                "Bank",
                [Reserved.accessControl: "devicePasscode"],
                session: client.openPlainSession()
            )
            #expect(try await !client.complete(client.deleteCollection(work)).isDismissed)
            let entries = try await service.waitForEntries { $0.contains { $0.kind == "deletion" } }
            #expect(entries.map(\.kind) == ["deletion", "access-control-change"])
            #expect(entries.map(\.item) == [work.rawValue, item.rawValue])
            await prompter.crash()
        }
    }

    @Test("Read respects time and limit, and is IsLocked before the first unlock")
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
            try await service.restartLocked()
            await #expect(throws: BusError.isLocked) { _ = try await service.entries() }
        }
    }

    static let path = ObjectPath(unchecked: "/org/keychaind/Audit")
    static let interface = "org.keychaind.Audit1"

    private final class UnknownRequester: Requester {
        let name = ":1.4711"

        func caller() async -> Caller { .opaque(name, reason: "it has left the bus") }

        var knownCaller: Caller? { nil }
    }

    // MARK: Writing

    @Test("an entry of an unknown caller has the time of the event", .onLoop)
    @BusActor
    func record_callerUnknown_isOpaqueAndHasTheTimeOfTheEvent() async throws {
        let entries = Recorder<AuditEntry>()
        let time = Timestamp(microsecondsSinceEpoch: 4711)
        let recorder = AuditRecorder(now: { time }, write: { entries.record($0.entry) })
        let event = AuditEvent(
            .authentication,
            in: .unattended,
            policy: "devicePasscode",
            outcome: .failed(.userCancel)
        )
        recorder.record(event, by: UnknownRequester())
        let entry = try await entries.first("the entry")
        #expect(entry.time == time)
        #expect(entry.caller == "an unknown program (it has left the bus) [nothing]")
        #expect((entry.item, entry.policy, entry.outcome) == ("", "devicePasscode", "userCancel"))
    }

    @Test(
        "the packed caller is parsed from its end",
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
