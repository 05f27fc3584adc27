import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The effect of the screen lock on items.
struct SessionLockTests {
    @Test("the screen lock locks only WhenUnlocked items")
    func screenLock_locksWhenUnlockedItems_andNoOthers() async throws {
        try await withLogind { service, logind, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let other = try await service.makeClient()
            let shy = try await client.createItem(
                "shy",
                ["k": "1", Reserved.accessible: "whenUnlocked"],
                session: session
            )
            let bold = try await client.createItem(
                "bold",
                ["k": "1", Reserved.accessible: "afterFirstUnlock"],
                session: session
            )
            let plain = try await client.createItem("plain", ["k": "1"], session: session)
            #expect(try await Set(client.searchItems(["k": "1"]).unlocked) == [shy, bold, plain])
            try await logind.setLockedHint(true)
            try await other.waitForLockNotice(of: shy, true)
            let hits = try await client.searchItems(["k": "1"])
            #expect(Set(hits.unlocked) == [bold, plain] && hits.locked == [shy])
            await #expect(throws: BusError.isLocked) { try await client.secret(of: shy, session: session) }
            await #expect(throws: BusError.isLocked) { try await client.deleteItem(shy) }
            await #expect(throws: BusError.isLocked) { try await client.deleteItems([plain, shy], in: .login) }
            #expect(try await client.secretText(of: bold, session: session) == "secret")
            let (unlocked, prompt) = try await client.unlock([shy, plain])
            #expect(unlocked == [plain] && prompt == .root)
            try await logind.setLockedHint(false)
            try await other.waitForLockNotice(of: shy, false)
            #expect(try await client.secretText(of: shy, session: session) == "secret")
        }
    }

    @Test("the screen lock ends grants")
    func screenLock_endsGrants() async throws {
        try await withLogind { service, logind, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            _ = try await service.unlock([item], as: client)
            #expect(try await client.secretText(of: item, session: session) == "secret")
            try await logind.setLockedHint(true)
            try await client.waitForLockNotice(of: item, true)
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            #expect(try await client.unlock([item]).prompt == .root)
            let entries = try await service.waitForEntries { $0.contains { $0.kind == "denial" } }
            #expect(
                entries.first.map { [$0.kind, $0.item, $0.outcome] } == ["denial", item.rawValue, "sessionLocked"]
            )
        }
    }

    @Test("the screen lock dismisses an open prompt")
    func screenLock_duringAPrompt_dismissesIt() async throws {
        try await withLogind([.hang]) { service, logind, prompter in
            let client = service.client
            let item = try await client.createProtectedItem(session: client.openPlainSession())
            let prompt = try await client.unlock([item]).prompt
            try await client.show(prompt)
            _ = try await prompter.questions.first("the question")
            try await logind.setLockedHint(true)
            #expect(try await client.completion(of: prompt).isDismissed)
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
        }
    }

    @Test("sleep ends grants")
    func sleep_endsGrants() async throws {
        try await withLogind { service, logind, _ in
            let client = service.client
            let item = try await client.createProtectedItem(session: client.openPlainSession())
            _ = try await service.unlock([item], as: client)
            try await logind.prepareForSleep(true)
            try await client.waitForLockNotice(of: item, true)
            #expect(try await client.isItemLocked(item))
        }
    }

    @Test("behind the screen lock, no rule asks, and what programs may do without a question they still may")
    func screenLock_ruleAsksNothing() async throws {
        try await withLogind { service, logind, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("Bank", ["service": "bank"], session: session)
            let plain = try await client.createItem("Mail", ["service": "mail"], session: session)
            for action in ["ask-once", "ask-always"] {
                try await client.addRules("\(action) any service=bank")
                let questions = prompter.questions.count
                try await client.lockScreen(true, by: logind)
                #expect(try await client.unlock([item]).prompt == .root)
                await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
                #expect(try await client.isItemLocked(item))
                #expect(try await client.secretText(of: plain, session: session) == "secret")
                // Rules are about reading.
                try await client.setProperty("Label", of: item, Interface.item, to: .string("Bank, \(action)"))
                #expect(prompter.questions.count == questions)
                try await client.lockScreen(false, by: logind)
                await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            }
            let entries = try await service.waitForEntries { $0.contains { $0.outcome == "sessionLocked" } }
            #expect(entries.contains { $0.kind == "denial" && $0.item == item.rawValue })
        }
    }

    @Test("a prompt from before the screen lock asks for no rule behind it")
    func screenLock_beforeAPromptIsShown_asksForNoRule() async throws {
        try await withLogind { service, logind, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("Bank", ["service": "bank"], session: session)
            try await client.addRules("ask-once any service=bank")
            let questions = prompter.questions.count
            let prompt = try await client.unlock([item]).prompt
            try await client.lockScreen(true, by: logind)
            #expect(try await client.complete(prompt).isDismissed)
            try await client.lockScreen(false, by: logind)
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            #expect(prompter.questions.count == questions)
        }
    }

    private func withLogind(
        _ responses: [PromptResponse] = [.answer("password")],
        _ body: (RunningService, FakeLogind, FakePrompter) async throws -> Void
    ) async throws {
        let logind = try await FakeLogind()
        try await logind.setDisplay(logind.session)
        var options = KeychainDaemon.Options()
        options.environment = logind.environment
        try await RunningService.withService(options) { service in
            let prompter = try await FakePrompter(on: service.bus, responses)
            try await body(service, logind, prompter)
            await prompter.crash()
        }
    }
}

extension SecretServiceProxy {
    /// Locks or unlocks the screen, and waits until the service knows.
    fileprivate nonisolated func lockScreen(_ isLocked: Bool, by logind: FakeLogind) async throws {
        try await logind.setLockedHint(isLocked)
        try await eventually("the screen") {
            try await property("SessionLocked", of: .service, "org.keychaind.Status1") == isLocked
        }
    }

    /// Waits for a signal to this client that an item is locked or unlocked.
    nonisolated func waitForLockNotice(of item: ObjectPath, _ isLocked: Bool) async throws {
        _ = try await signals.first("the notice of \(item)") { signal in
            signal.path == item.rawValue && signal.changedProperties?.values["Locked"] == .boolean(isLocked)
        }
    }
}
