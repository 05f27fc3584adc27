import KeychaindDBus
import KeychaindTestSupport
import Testing

/// An approval covers what the dialog said, and nothing else.
struct ActionTests {
    private struct Fixture {
        let service: RunningService
        let client: SecretServiceProxy
        let session: ObjectPath
        let item: ObjectPath
        let prompter: FakePrompter

        var lastMessage: String { prompter.questions.all.last?.text("message") ?? "" }

        func setAttributes(_ attributes: [String: String]) async throws(BusError) {
            try await client.setProperty("Attributes", of: item, Interface.item, to: .stringDictionary(attributes))
        }

        func setSecret(_ text: String) async throws(BusError) {
            try await client.setSecret(WireSecret(session: session, value: Array(text.utf8)), of: item)
        }
    }

    private static let protected = ["service": "bank", Reserved.accessControl: "userPresence"]

    private func withItem(
        _ responses: [PromptResponse] = [.answer("password")],
        _ accessControl: String = "userPresence",
        _ body: (Fixture) async throws -> Void
    ) async throws {
        try await RunningService.withPrompter(responses) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(
                "Bank",
                ["service": "bank"],
                accessControl,
                session: session
            )
            try await body(
                Fixture(service: service, client: client, session: session, item: item, prompter: prompter)
            )
        }
    }

    @Test("a replacement whose second dialog is dismissed leaves no grant")
    func replaceThatIsDismissed_leavesNoGrant() async throws {
        try await withItem([.answer("password"), .cancel, .answer("password")]) { fixture in
            let attacker = try await fixture.service.makeClient()
            let session = try await attacker.openPlainSession()
            let attributes = ["service": "bank", Reserved.accessControl: "applicationPassword"]
            let prompt = try await attacker.createItem(
                properties: SecretServiceProxy.itemProperties(label: "Bank", attributes),
                secret: WireSecret(session: session, value: [1]),
                replace: true
            ).prompt
            #expect(try await attacker.complete(prompt).isDismissed)
            #expect(fixture.prompter.questions.count == 2)
            #expect(fixture.prompter.questions.all[0].text("message")?.contains("change who may use it") == true)
            #expect(try await attacker.isItemLocked(fixture.item))
            await #expect(throws: BusError.isLocked) { try await attacker.secret(of: fixture.item, session: session) }
            #expect(try await attacker.secrets(of: [fixture.item], session: session).isEmpty)
            // Control: a caller that asks to use the item may.
            #expect(try await fixture.service.unlock([fixture.item], as: attacker).paths == [fixture.item.rawValue])
            #expect(try await attacker.secretText(of: fixture.item, session: session) == "secret")
        }
    }

    @Test("each change under a grant has its own dialog, and happens only after an approval")
    func changesUnderAGrant_areAskedFor() async throws {
        try await withItem { fixture in
            let (client, item) = (fixture.client, fixture.item)
            let before = try await client.properties(of: item, Interface.item)
            // The grant lasts as long as all of the dialogs.
            let context = try await ContextClient(client)
            try await context.set("ReuseDuration", to: .uint32(300_000))
            _ = try await client.complete(context.unlock([item]).prompt)
            await fixture.prompter.answer(with: [.cancel])
            let changes: [(String, () async throws(BusError) -> Void)] = [
                ("replace the secret of “Bank”", { () throws(BusError) in try await fixture.setSecret("new") }),
                (
                    "rename “Bank” to “Weather”",
                    { () throws(BusError) in
                        try await client.setProperty("Label", of: item, Interface.item, to: .string("Weather"))
                    }
                ),
                (
                    "change the attributes of “Bank”",
                    { () throws(BusError) in
                        try await client.setProperty("Type", of: item, Interface.item, to: .string("other"))
                    }
                ),
                (
                    "take the protection off “Bank”",
                    { () throws(BusError) in try await fixture.setAttributes(["service": "bank"]) }
                ),
                (
                    "change who may use “Bank”",
                    { () throws(BusError) in
                        try await fixture.setAttributes(["service": "bank", Reserved.accessControl: "devicePasscode"])
                    }
                ),
                (
                    "take the protection off “Bank” and rename it to “Weather”",
                    { () throws(BusError) in
                        let properties: [String: Variant] = [
                            "org.freedesktop.Secret.Item.Label": .string("Weather"),
                            "org.freedesktop.Secret.Item.Attributes": .stringDictionary(["service": "bank"]),
                            "org.keychaind.Item1.Unique": .strings(["service"]),
                        ]
                        try await client.call(item, "org.keychaind.Item1", "Change", properties, [WireSecret]())
                    }
                ),
            ]
            for (words, change) in changes {
                await #expect(throws: BusError.authentication("UserCancel")) { try await change() }
                #expect(fixture.lastMessage.contains(words), "\(fixture.lastMessage)")
            }
            #expect(
                try await client.properties(of: item, Interface.item).filter { $0.key != "Locked" }
                    == before.filter { $0.key != "Locked" }
            )
            #expect(try await client.secretText(of: item, session: fixture.session) == "secret")
            await fixture.prompter.answer(with: [.answer("password")])
            for (_, change) in changes.prefix(3) { try await change() }
            #expect(try await client.label(of: item) == "Weather")
            #expect(try await client.secretText(of: item, session: fixture.session) == "new")
        }
    }

    @Test("a change that waits for the user ends with its caller")
    func waitingChange_endsWithItsCaller() async throws {
        try await withItem { fixture in
            let attacker = try await fixture.service.makeClient()
            _ = try await fixture.service.unlock([fixture.item], as: attacker)
            await fixture.prompter.answer(with: [.hang])
            let mark = fixture.prompter.questions.count
            let change = Task {
                try await attacker.setProperty("Label", of: fixture.item, Interface.item, to: .string("x"))
            }
            _ = try await fixture.prompter.questions.first("the question", after: mark)
            await attacker.disconnect()
            _ = await change.result
            _ = try await fixture.prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
            #expect(try await fixture.client.label(of: fixture.item) == "Bank")
        }
    }

    @Test("a deletion approved in a context needs no other dialog, and permits no reading")
    func authorizedDeletion_isOneDeletion() async throws {
        try await withItem { fixture in
            let (client, item) = (fixture.client, fixture.item)
            let second = try await client.createProtectedItem("Second", ["n": "2"], session: fixture.session)
            let context = try await ContextClient(client)
            let prompt = try await context.authorize("delete", [item]).prompt
            #expect(try await client.complete(prompt).paths == [item.rawValue])
            #expect(fixture.lastMessage.contains("delete “Bank”"))
            #expect(try await context.authorize("delete", [item]).authorized == [item])
            #expect(try await client.isItemLocked(item))
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: fixture.session) }
            await #expect(throws: BusError.isLocked) { try await fixture.setSecret("new") }
            // Not by another program, and not for another item.
            let other = try await fixture.service.makeClient()
            #expect(try await other.deleteItem(item) != .root)
            #expect(try await client.deleteItem(second) != .root)
            #expect(try await client.deleteItem(item) == .root)
            #expect(fixture.prompter.questions.count == 1)
            #expect(try await client.items(of: .login) == [second])
        }
    }

    @Test("a change approved in a context happens once", arguments: ["userPresence", "devicePasscode"])
    func authorizedChange_isOneOfEachPart(accessControl: String) async throws {
        try await withItem([.answer("password")], accessControl) { fixture in
            let (client, item) = (fixture.client, fixture.item)
            let context = try await ContextClient(client)
            #expect(try await client.complete(context.authorize("change", [item]).prompt).paths == [item.rawValue])
            try await client.setProperty("Label", of: item, Interface.item, to: .string("New"))
            try await fixture.setAttributes(["service": "shop", Reserved.accessControl: accessControl])
            // This does not include removing the protection.
            await #expect(throws: BusError.isLocked) { try await fixture.setAttributes(["service": "shop"]) }
            try await fixture.setSecret("new")
            await #expect(throws: BusError.isLocked) { try await fixture.setSecret("again") }
            #expect(fixture.prompter.questions.count == 1)
            #expect(try await client.deleteItem(item) != .root)
            _ = try await fixture.service.unlock([item], as: client)
            #expect(try await client.secretText(of: item, session: fixture.session) == "new")
        }
    }

    @Test("an approval ends with a change of the item by another program")
    func authorization_endsWithAChangeByAnother() async throws {
        try await withItem { fixture in
            let (client, item) = (fixture.client, fixture.item)
            let context = try await ContextClient(client)
            _ = try await client.complete(context.authorize("delete", [item]).prompt)
            let other = try await fixture.service.makeClient()
            _ = try await fixture.service.unlock([item], as: other)
            try await other.setProperty("Label", of: item, Interface.item, to: .string("Another"))
            #expect(try await client.deleteItem(item) != .root)
            _ = try await client.complete(context.authorize("delete", [item]).prompt)
            try await client.lock([item])
            #expect(try await client.deleteItem(item) != .root)
            #expect(try await client.items(of: .login) == [item])
        }
    }

    @Test(
        "an evaluation whose dialog says so permits changes, and neither of the protection nor to others",
        arguments: ["userPresence", "devicePasscode"]
    )
    func evaluation_servesChanges(accessControl: String) async throws {
        try await withItem([.answer("password")], accessControl) { fixture in
            let (client, item) = (fixture.client, fixture.item)
            let context = try await ContextClient(client)
            try await context.set("ReuseDuration", to: .uint32(300_000))
            try await context.evaluate()
            #expect(fixture.lastMessage.contains("and use or change every item"))
            for text in ["new", "newer"] {
                await #expect(throws: BusError.isLocked) { try await fixture.setSecret(text) }
                #expect(try await context.authorize("change", [item]).authorized == [item])
                try await fixture.setSecret(text)
            }
            #expect(try await context.authorize("change", [item]).authorized == [item])
            await #expect(throws: BusError.isLocked) { try await fixture.setAttributes(["service": "shop"]) }
            #expect(try await context.authorize("protect", [item]).prompt != .root)
            // A change permits no reading, and another program or context has no part in it.
            #expect(try await client.isItemLocked(item))
            let other = try await fixture.service.makeClient()
            let session = try await other.openPlainSession()
            await #expect(throws: BusError.isLocked) {
                try await other.setSecret(WireSecret(session: session, value: [1]), of: item)
            }
            let unproved = try await ContextClient(other)
            #expect(try await unproved.authorize("change", [item]).prompt != .root)
            #expect(try await context.unlock([item]).unlocked == [item])
            #expect(try await client.secretText(of: item, session: fixture.session) == "newer")
            #expect(fixture.prompter.questions.count == 1)
            try await context.call("Invalidate")
            #expect(try await ContextClient(client).authorize("change", [item]).prompt != .root)
        }
    }

    @Test("a proof whose dialog spoke of use alone permits no change")
    func proofForUse_servesNoChange() async throws {
        try await withItem { fixture in
            let (client, item) = (fixture.client, fixture.item)
            let unlocked = try await ContextClient(client)
            _ = try await client.complete(unlocked.unlock([item]).prompt)
            #expect(try await unlocked.authorize("change", [item]).prompt != .root)
            let single = try await ContextClient(client)
            try await single.set("ReuseDuration", to: .uint32(0))
            try await single.evaluate()
            #expect(try await single.authorize("change", [item]).prompt != .root)
            // A longer time that the program sets afterwards changes nothing.
            try await single.set("ReuseDuration", to: .uint32(300_000))
            #expect(try await single.authorize("change", [item]).prompt != .root)
            // It was not used up, either.
            try await client.lock([item])
            #expect(try await single.unlock([item]).unlocked == [item])
        }
    }

    @Test("an authentication for use does not permit a deletion")
    func proof_servesNoDeletion() async throws {
        try await withItem { fixture in
            let context = try await ContextClient(fixture.client)
            try await context.evaluate()
            let (authorized, prompt) = try await context.authorize("delete", [fixture.item])
            #expect(authorized.isEmpty && prompt != .root)
            #expect(try await context.unlock([fixture.item]).unlocked == [fixture.item])
            await #expect(throws: BusError.invalidArgs) { try await context.authorize("use", [fixture.item]) }
        }
    }

    @Test("a lock of the keychain while a key is derived for a context grants nothing")
    func lock_duringGrantProved_grantsNothing() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let work = try await client.createWithMasterPassword([:], .password("work", session))
            // Enough that one key derivation is running at the time of the lock.
            var items: [ObjectPath] = []
            for number in 0..<40 {
                let attributes = ["n": "\(number)", Reserved.accessControl: "devicePasscode"]
                items.append(try await client.createItem(in: work, "Bank", attributes, session: session))
            }
            let other = try await service.makeClient()
            let otherSession = try await other.openPlainSession()
            let context = try await ContextClient(client)
            try await context.set("ReuseDuration", to: .uint32(300_000))
            try await context.evaluate()
            for round in 0..<12 {
                let unlocking = Task { [items] in try await context.unlock(items) }
                for _ in 0..<round % 6 { try await other.roundTrip() }
                try await other.lock([work])
                _ = try await unlocking.value
                try await other.unlockWithMasterPassword(work, .password("work", otherSession))
                #expect(try await client.secrets(of: items, session: session).isEmpty)
            }
            #expect(try await context.unlock(items).unlocked == items)
            #expect(try await client.secrets(of: items, session: session).count == items.count)
        }
    }
}
