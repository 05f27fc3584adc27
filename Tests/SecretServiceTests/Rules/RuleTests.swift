import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// What rules do to reads.
struct RuleTests {
    private func run(
        _ responses: [PromptResponse] = [.answer("password")],
        _ body: (RunningService, FakePrompter, _ session: ObjectPath, _ item: ObjectPath) async throws -> Void
    ) async throws {
        try await RunningService.withPrompter(responses) { service, prompter in
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createItem(
                "Bank",
                ["service": "bank"],
                secret: "secret",
                session: session
            )
            try await body(service, prompter, session, item)
        }
    }

    @Test("never refuses the item, everywhere and without a dialog, and nothing else")
    func never() async throws {
        try await run { service, prompter, session, item in
            let client = service.client
            let mail = try await client.createItem("Mail", ["service": "mail"], secret: "letter", session: session)
            try await client.addRules("never \(ownIdentity) service=bank")
            let questions = prompter.questions.count
            await #expect(throws: BusError.accessDenied) { try await client.secret(of: item, session: session) }
            #expect(try await Array(client.secrets(of: [item, mail], session: session).keys) == [mail])
            #expect(try await client.isItemLocked(item))
            #expect(try await client.searchItems(["service": "bank"]).locked == [item])
            let (unlocked, prompt) = try await client.unlock([item, mail])
            #expect(unlocked == [mail] && prompt == .root)
            await #expect(throws: BusError.accessDenied) {
                try await client.setSecret(WireSecret(session: session, value: Array("x".utf8)), of: item)
            }
            await #expect(throws: BusError.accessDenied) { try await client.deleteItem(item) }
            await #expect(throws: BusError.accessDenied) {
                try await client.setProperty(
                    "Attributes",
                    of: item,
                    Interface.item,
                    to: .stringDictionary(["service": "mail"])
                )
            }
            await #expect(throws: BusError.accessDenied) {
                _ = try await client.createItem("Bank", ["service": "bank"], session: session, replace: true)
            }
            // The keychain opens, the item does not; and no dialog is shown for it alone.
            _ = try await client.lock([.login])
            #expect(try await client.unlock([item]).prompt == .root)
            #expect(prompter.questions.count == questions)
        }
    }

    @Test("never keeps the item from being deleted with its keychain, also before it was unlocked")
    func never_deletionOfTheKeychain() async throws {
        try await run([.answer("password"), .answer("work")]) { service, prompter, session, _ in
            let client = service.client
            let label = ["org.freedesktop.Secret.Collection.Label": Variant.string("Work")]
            let work = try await client.createWithMasterPassword(label, .password("work", session))
            let item = try await client.createItem(in: work, "Till", ["service": "till"], session: session)
            try await client.addRules("never \(ownIdentity) service=till")
            let questions = prompter.questions.count
            await #expect(throws: BusError.accessDenied) { try await client.deleteItem(item) }
            await #expect(throws: BusError.accessDenied) { try await client.deleteCollection(work) }
            try await client.lock([work])
            await #expect(throws: BusError.accessDenied) { try await client.deleteCollection(work) }
            #expect(prompter.questions.count == questions)
            // After a restart, the attributes are unknown until the password has been given.
            try await service.daemon.restart()
            let prompt = try await client.deleteCollection(work)
            #expect(try await client.complete(prompt).isDismissed)
            #expect(prompter.questions.count == questions + 1)
            #expect(try await client.collections().contains(work))
            #expect(try await client.searchItems(["service": "till"]).locked == [item])
        }
    }

    @Test("never for another program lets the keychain be deleted")
    func never_deletionOfTheKeychain_byAnother() async throws {
        try await run { service, _, session, _ in
            let client = service.client
            let label = ["org.freedesktop.Secret.Collection.Label": Variant.string("Work")]
            let work = try await client.createWithMasterPassword(label, .password("work", session))
            _ = try await client.createItem(in: work, "Till", ["service": "till"], session: session)
            try await client.addRules("never program:/usr/bin/secret-tool *")
            #expect(try await client.deleteCollection(work) == .root)
        }
    }

    @Test("a rule about another program changes nothing")
    func otherProgram() async throws {
        try await run { service, _, session, item in
            try await service.client.addRules(
                "never program:/usr/bin/secret-tool *",
                "never flatpak:org.example.Chat *"
            )
            #expect(try await service.client.secretText(of: item, session: session) == "secret")
            let found = try await Command.run(
                "secret-tool",
                ["lookup", "service", "bank"],
                environment: service.daemon.environment
            )
            #expect(!found.succeeded && found.output.isEmpty)
        }
    }

    @Test("ask-once asks for the item once, for all connections of the program")
    func askOnce() async throws {
        try await run { service, prompter, session, item in
            let client = service.client
            try await client.addRules("ask-once any service=bank")
            let questions = prompter.questions.count
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            #expect(try await client.isItemLocked(item))
            #expect(try await service.unlock([item], as: client).paths == [item.rawValue])
            let question = try #require(prompter.questions.all.last)
            #expect(question.type == "confirm" && question.wish == "use “Bank”")
            #expect(question.text("description")?.contains("not again until the screen is locked") == true)
            #expect(question.text("description")?.contains("Always for This Program") == false)
            let other = try await service.makeClient()
            let otherSession = try await other.openPlainSession()
            for _ in 0..<3 {
                #expect(try await client.secretText(of: item, session: session) == "secret")
                #expect(try await other.secretText(of: item, session: otherSession) == "secret")
            }
            #expect(prompter.questions.count == questions + 1)
            #expect(client.lockNotices(of: item) == [false])
            // Another program is asked about.
            let found = try await Command.run(
                "secret-tool",
                ["lookup", "service", "bank"],
                environment: service.daemon.environment
            )
            #expect(found.succeeded)
            #expect(prompter.questions.count == questions + 2)
        }
    }

    @Test("ask-always asks for the item in each connection")
    func askAlways() async throws {
        try await run { service, prompter, session, item in
            let client = service.client
            try await client.addRules("ask-always any *")
            let questions = prompter.questions.count
            #expect(try await service.unlock([item], as: client).paths == [item.rawValue])
            #expect(try await client.secretText(of: item, session: session) == "secret")
            let other = try await service.makeClient()
            let otherSession = try await other.openPlainSession()
            await #expect(throws: BusError.isLocked) { try await other.secret(of: item, session: otherSession) }
            #expect(prompter.questions.count == questions + 1)
        }
    }

    @Test("who refuses, or leaves the question, gives nothing")
    func ask_refused() async throws {
        try await run([.answer("password"), .cancel]) { service, _, session, item in
            let client = service.client
            try await client.addRules("ask-once any *")
            #expect(try await service.unlock([item], as: client).isDismissed)
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
        }
    }

    @Test("the locked screen forgets what was asked once")
    func askOnce_screenLock() async throws {
        let logind = try await FakeLogind()
        try await logind.setDisplay(logind.session)
        var options = KeychainDaemon.Options()
        options.environment = logind.environment
        try await RunningService.withService(options) { service in
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("Bank", ["service": "bank"], secret: "secret", session: session)
            try await client.addRules("ask-once any *")
            _ = try await service.unlock([item], as: client)
            #expect(try await client.secretText(of: item, session: session) == "secret")
            for isLocked in [true, false] {
                try await logind.setLockedHint(isLocked)
                try await eventually("the screen") {
                    try await client.property("SessionLocked", of: .service, "org.keychaind.Status1") == isLocked
                }
            }
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            #expect(client.lockNotices(of: item) == [false, true])
            await prompter.crash()
        }
    }

    @Test("no program changes an item so that the rule is about it no more")
    func attributes_cannotEscape() async throws {
        try await run { service, _, session, item in
            let client = service.client
            try await client.addRules("ask-always any service=bank", "ask-always any xdg:schema=org.example.Bank")
            for attributes in [["service": "mail"], [:], ["user": "ann"]] {
                await #expect(throws: BusError.accessDenied) {
                    try await client.setProperty(
                        "Attributes",
                        of: item,
                        Interface.item,
                        to: .stringDictionary(attributes)
                    )
                }
            }
            try await client.setProperty(
                "Attributes",
                of: item,
                Interface.item,
                to: .stringDictionary(["service": "bank", "user": "ann"])
            )
            let typed = try await client.createItem("Typed", ["xdg:schema": "org.example.Bank"], session: session)
            await #expect(throws: BusError.accessDenied) {
                try await client.setProperty("Type", of: typed, Interface.item, to: .string("org.example.Other"))
            }
            await #expect(throws: BusError.isLocked) { try await client.secret(of: typed, session: session) }
            // Storing is no reading.
            _ = try await client.createItem(
                "Bank",
                ["service": "bank", "user": "ann"],
                session: session,
                replace: true
            )
        }
    }

    @Test("a rule never opens a protected item")
    func protectedItem_staysProtected() async throws {
        try await run { service, prompter, session, _ in
            let client = service.client
            let item = try await client.createProtectedItem("Safe", ["service": "safe"], session: session)
            try await client.addRules("allow any *", "allow \(ownIdentity) item=\(item.rawValue)")
            let questions = prompter.questions.count
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            // Its own dialog asks a person; the rule need not ask again.
            try await client.addRules("ask-always \(ownIdentity) item=\(item.rawValue)")
            _ = try await service.unlock([item], as: client)
            #expect(try await client.secretText(of: item, session: session) == "secret")
            #expect(prompter.questions.count == questions + 2)
            try await client.addRules("never \(ownIdentity) item=\(item.rawValue)")
            await #expect(throws: BusError.accessDenied) { try await client.secret(of: item, session: session) }
        }
    }

    @Test("each decision is in the audit with the rule that made it, and counted")
    func audit() async throws {
        try await run { service, _, session, item in
            let client = service.client
            let mail = try await client.createItem("Mail", ["service": "mail"], secret: "letter", session: session)
            try await client.addRules("never any service=bank", "notify any service=mail")
            for _ in 0..<3 { _ = try? await client.secret(of: item, session: session) }
            _ = try await client.secret(of: mail, session: session)
            let entries = try await client.call(
                ObjectPath(unchecked: "/org/keychaind/Audit"),
                "org.keychaind.Audit1",
                "ReadWithRules",
                UInt64(0),
                UInt32(0)
            ).read([RuledEntry].self)
            func count(_ kind: String, _ path: ObjectPath?, _ rule: String, _ outcome: String) -> Int {
                entries.filter {
                    $0.kind == kind && $0.item == path?.rawValue ?? "" && $0.rule == rule && $0.outcome == outcome
                }.count
            }
            #expect(count("denial", item, "never any service=bank", "forbidden") == 1)
            #expect(count("denial", item, "never any service=bank", "forbidden × 2") == 1)
            #expect(count("release", mail, "notify any service=mail", "success") == 1)
            #expect(count("rule-change", nil, "never any service=bank", "success") == 1)
            let rules = try await client.rules()
            #expect(rules.map(\.uses) == [3, 1])
            #expect(rules.allSatisfy { $0.last > 1_600_000_000_000_000 })
        }
    }
}

/// An audit entry with its rule.
private struct RuledEntry: BusValue {
    let kind, item, outcome, rule: String

    static var signature: String { "(tsssssss)" }

    init(from reader: inout Reader) throws(BusError) {
        var texts: [String] = []
        try reader.readStructure { (reader) throws(BusError) in
            _ = try UInt64(from: &reader)
            for _ in 0..<7 { texts.append(try String(from: &reader)) }
        }
        (kind, item, outcome, rule) = (texts[0], texts[3], texts[5], texts[6])
    }

    func write(to writer: inout Writer) {}
}
