import KeychaindDBus
import KeychaindSecretService
import KeychaindTestSupport
import Testing

/// A grant gives one caller access to the items of its authentication for a time.
struct GrantTests {
    @Test("#75 #131 a protected item is unlocked only for the caller that authenticated")
    func unlock_grantsTheItemToTheCallerAlone() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let other = try await service.makeClient()
            let otherSession = try await other.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            try await other.roundTrip()
            #expect(try await service.unlock([item], as: client).paths == [item.rawValue])
            #expect(try await !client.isItemLocked(item))
            #expect(try await other.isItemLocked(item))
            #expect(try await client.secretText(of: item, session: session) == "secret")
            #expect(try await client.secrets(of: [item], session: session).count == 1)
            #expect(try await client.searchItems(["service": "bank"]).unlocked == [item])
            await #expect(throws: BusError.isLocked) { try await other.secret(of: item, session: otherSession) }
            #expect(try await other.searchItems(["service": "bank"]).locked == [item])
            #expect(try await client.unlock([item]).unlocked == [item])
            #expect(prompter.questions.count == 1)
            try await other.roundTrip()
            #expect(client.lockNotices(of: item) == [false] && other.lockNotices(of: item).isEmpty)
        }
    }

    @Test(
        "#122 the first signal of a granting prompt is Completed, unless the program caches properties",
        arguments: [false, true]
    )
    func unlock_item_completedComesFirst(cachesProperties: Bool) async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let item = try await client.createProtectedItem(session: try await client.openPlainSession())
            if cachesProperties { _ = try await client.properties(of: item, SecretServiceProxy.Interface.item) }
            try await client.roundTrip()
            let mark = client.signals.count
            #expect(try await service.unlock([item], as: client).paths == [item.rawValue])
            try await client.roundTrip()
            let signals = client.signals.all.dropFirst(mark).filter {
                $0.path == item.rawValue || $0.member == "Completed"
            }
            let members = signals.map(\.member)
            #expect(
                members
                    == (cachesProperties ? ["PropertiesChanged", "Completed"] : ["Completed", "PropertiesChanged"])
            )
        }
    }

    @Test("GetSecrets returns a sealed item under a grant, whether it is in memory or read from disk")
    func getSecrets_ofASealedItem_givesItUnderAGrant() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            for size in [10, 10_000] {
                let secret = String(repeating: "s", count: size)
                let attributes = ["size": "\(size)"]
                let item = try await client.createProtectedItem(
                    "Bank",
                    attributes,
                    "devicePasscode",
                    secret: secret,
                    session: session
                )
                #expect(try await client.secrets(of: [item], session: session).isEmpty)
                #expect(try await service.unlock([item], as: client).paths == [item.rawValue])
                #expect(try await client.secrets(of: [item], session: session)[item]?.value == Array(secret.utf8))
            }
        }
    }

    @Test("a refused answer does not consume a grant for one use", .onLoop)
    @BusActor
    func getSecrets_refused_usesNoGrant() async throws {
        var limits = ServiceLimits.patient
        limits.secretBytesPerReply = 2000
        let service = try await ProviderInProcess(limits: limits)
        let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password)])
        defer { prompter.crash() }
        let client = service.client
        _ = try await client.complete(client.unlock([.login]).prompt)
        let session = try await client.openPlainSession()
        let item = try await client.createProtectedItem(session: session)
        let large = try await client.createItem(secret: String(repeating: "l", count: 2000), session: session)
        let context = try await ContextClient(client)
        try await context.set("ReuseDuration", to: .uint32(0))
        let prompt = try await context.unlock([item]).prompt
        #expect(try await client.complete(prompt).paths == [item.rawValue])
        await #expect(throws: BusError.limitsExceeded) {
            try await client.secrets(of: [item, large], session: session)
        }
        #expect(try await client.secrets(of: [item], session: session).count == 1)
        #expect(try await client.secrets(of: [item], session: session).isEmpty)
    }

    @Test("a dismissed Unlock grants nothing")
    func unlock_dismissed_grantsNothing() async throws {
        try await RunningService.withPrompter([.cancel]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            let outcome = try await service.unlock([item], as: client)
            #expect(outcome == PromptOutcome(isDismissed: true, result: .objectPaths([])))
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
        }
    }

    @Test("unlocking several items of one policy takes one dialog that names them")
    func unlock_ofManyUnderOnePolicy_asksOnce_andNamesThem() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let plain = try await client.createItem("Plain", session: session)
            var items: [ObjectPath] = []
            for number in 1...3 {
                items.append(
                    try await client.createProtectedItem("Item \(number)", ["n": "\(number)"], session: session)
                )
            }
            let (unlocked, prompt) = try await client.unlock([items[0], plain, items[1], items[2], items[0]])
            #expect(unlocked == [plain])
            let outcome = try await client.complete(prompt)
            #expect(outcome.paths == (items + [items[0]]).map(\.rawValue))
            #expect(prompter.questions.count == 1)
            let question = try #require(prompter.questions.all.first)
            let text = ["title", "message", "description"].compactMap(question.text).joined(separator: " ")
            #expect((1...3).allSatisfy { text.contains("Item \($0)") })
        }
    }

    @Test("unlocking items of two policies returns the granted ones")
    func unlock_ofTwoPolicies_returnsWhatWasGranted() async throws {
        try await RunningService.withPrompter([.answer("password"), .cancel]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let first = try await client.createProtectedItem("First", ["n": "1"], "userPresence", session: session)
            let second = try await client.createProtectedItem("Second", ["n": "2"], "devicePasscode", session: session)
            let outcome = try await service.unlock([first, second], as: client)
            #expect(outcome == PromptOutcome(isDismissed: false, result: .objectPaths([first])))
            #expect(prompter.questions.count == 2)
        }
    }

    @Test("a locked collection is unlocked first, and login's password counts as the passcode")
    func unlock_ofALockedCollection_comesFirst_andItsPasswordCounts() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let presence = try await client.createProtectedItem("First", ["n": "1"], "userPresence", session: session)
            let passcode = try await client.createProtectedItem(
                "Second",
                ["n": "2"],
                "devicePasscode",
                session: session
            )
            try await client.lock([.login])
            let outcome = try await service.unlock([presence, passcode], as: client)
            #expect(outcome.paths == [presence.rawValue, passcode.rawValue])
            #expect(prompter.questions.count == 1)
            #expect(try await client.secretText(of: passcode, session: session) == "secret")
        }
    }

    @Test("locking an item, or a disconnect, ends only the caller's grant; locking the collection ends all")
    func lock_endsGrants() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let other = try await service.makeClient()
            let leaving = try await service.makeClient()
            let item = try await client.createProtectedItem(session: session)
            for program in [client, other, leaving] { _ = try await service.unlock([item], as: program) }
            #expect(try await client.lock([item]).locked == [item])
            await leaving.disconnect()
            #expect(try await service.makeClient().isItemLocked(item))
            #expect(try await client.isItemLocked(item))
            #expect(try await !other.isItemLocked(item))
            #expect(try await !client.isCollectionLocked(.login))
            #expect(client.lockNotices(of: item) == [false, true] && other.lockNotices(of: item) == [false])

            try await client.lock([.login])
            #expect(try await service.unlock([.login], as: client).paths == [ObjectPath.login.rawValue])
            #expect(try await other.isItemLocked(item))
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
        }
    }

    @Test("a change under a grant succeeds, and one of Type keeps the protection")
    func change_underAGrant_isDone() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            for accessControl in ["userPresence", "devicePasscode"] {
                let attributes = ["service": accessControl, Reserved.accessControl: accessControl]
                let item = try await client.createItem("Bank", attributes, session: session)
                _ = try await service.unlock([item], as: client)
                try await client.setProperty("Label", of: item, Interface.item, to: .string("New"))
                try await client.setProperty("Type", of: item, Interface.item, to: .string("other"))
                #expect(try await client.attributes(of: item)[Reserved.accessControl] == accessControl)
                try await client.setSecret(WireSecret(session: session, value: [1, 2]), of: item)
                #expect(try await client.label(of: item) == "New")
                #expect(try await client.secret(of: item, session: session).value == [1, 2])
                try await client.setProperty(
                    "Attributes",
                    of: item,
                    Interface.item,
                    to: .stringDictionary(["service": accessControl])
                )
                #expect(try await client.attributes(of: item) == ["service": accessControl, "xdg:schema": "other"])
                let other = try await service.makeClient()
                #expect(try await !other.isItemLocked(item))
                #expect(try await client.secret(of: item, session: session).value == [1, 2])
            }
        }
    }

    @Test("changing the access control ends every grant")
    func changeOfTheAccessControl_endsEveryGrant() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            _ = try await service.unlock([item], as: client)
            try await client.setProperty(
                "Attributes",
                of: item,
                Interface.item,
                to: .stringDictionary(["service": "bank", Reserved.accessControl: "devicePasscode"])
            )
            #expect(try await client.isItemLocked(item))
            _ = try await service.unlock([item], as: client)
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }
}
