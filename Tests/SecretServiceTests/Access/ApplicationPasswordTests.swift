import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Items with an application password.
struct ApplicationPasswordTests {
    @Test("creating an item asks for a new application password, which then unlocks it")
    func createItem_withApplicationPassword_asksForANewOne_andOpensByIt() async throws {
        let responses: [PromptResponse] = [.answer("own"), .answer("wrong"), .answer("own")]
        try await RunningService.withPrompter(responses) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let (made, prompt) = try await create("applicationPassword", client, session)
            #expect(made == .root)
            let item = try #require(try await client.complete(prompt).path)
            #expect(prompter.questions.all.last?.properties["password-new"] != nil)
            #expect(try await client.isItemLocked(item))
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            #expect(try await service.unlock([item], as: client).paths == [item.rawValue])
            #expect(prompter.questions.count == 3)
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }

    @Test("a dismissed creation stores nothing")
    func createItem_dismissed_storesNothing() async throws {
        try await RunningService.withPrompter([.cancel]) { service, prompter in
            let client = service.client
            let (_, prompt) = try await create("applicationPassword", client, client.openPlainSession())
            let outcome = try await client.complete(prompt)
            #expect(outcome == PromptOutcome(isDismissed: true, result: .objectPath(.root)))
            #expect(try await client.items(of: .login).isEmpty)
        }
    }

    @Test("a replacement without an access control keeps the application password")
    func replace_withoutTheAccessControl_keepsThePassword() async throws {
        try await RunningService.withPrompter([.answer("own")]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let (_, creation) = try await create("applicationPassword", client, session)
            let item = try #require(try await client.complete(creation).path)
            func replace(_ secret: String) async throws -> (item: ObjectPath, prompt: ObjectPath) {
                let secret = WireSecret(session: session, value: Array(secret.utf8))
                return try await client.createItem(
                    properties: SecretServiceProxy.itemProperties(label: "New", [:]),
                    secret: secret,
                    replace: true
                )
            }
            let (made, prompt) = try await replace("second")
            #expect(made == .root)
            #expect(try await client.complete(prompt) == PromptOutcome(isDismissed: false, result: .objectPath(item)))
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            #expect(try await service.unlock([item], as: client).paths == [item.rawValue])
            #expect(try await client.secretText(of: item, session: session) == "second")
            // A grant to read is no grant to replace.
            #expect(try await client.complete(replace("third").prompt).path == item)
            #expect(
                prompter.questions.all.map { $0.properties["password-new"] }
                    == [.boolean(true), .boolean(false), .boolean(false), .boolean(false)]
            )
            try await client.lock([item])
            #expect(try await service.unlock([item], as: client).paths == [item.rawValue])
            #expect(try await client.secretText(of: item, session: session) == "third")
        }
    }

    @Test("a replacement with the access control asks for a new application password")
    func replace_namingTheAccessControl_asksForANewPassword() async throws {
        let responses: [PromptResponse] = [.answer("own"), .answer("own"), .answer("other")]
        try await RunningService.withPrompter(responses) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let (_, creation) = try await create("applicationPassword", client, session)
            let item = try #require(try await client.complete(creation).path)
            let (_, prompt) = try await create("applicationPassword", client, session, replace: true)
            #expect(try await client.complete(prompt).path == item)
            try await client.lock([item])
            #expect(try await service.unlock([item], as: client).paths == [item.rawValue])
            #expect(prompter.questions.count == 4)
        }
    }

    @Test("an item with passcode and application password needs both")
    func passcodeAndApplicationPassword_needBoth() async throws {
        let responses: [PromptResponse] = [.answer("own"), .answer("password"), .answer("own")]
        try await RunningService.withPrompter(responses) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let (_, prompt) = try await create("devicePasscode and applicationPassword", client, session)
            let item = try #require(try await client.complete(prompt).path)
            #expect(try await service.unlock([item], as: client).paths == [item.rawValue])
            #expect(prompter.questions.count == 3)
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }

    @Test("the passcode in a context does not replace the application password")
    func passcodeInAContext_isNotEnough() async throws {
        try await RunningService.withPrompter([.answer("own"), .answer("password")]) { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let (_, creation) = try await create("devicePasscode and applicationPassword", client, session)
            let item = try #require(try await client.complete(creation).path)
            let context = try await ContextClient(client)
            try await context.evaluate()
            let (unlocked, prompt) = try await context.unlock([item])
            #expect(unlocked.isEmpty && prompt != .root)
        }
    }

    @Test("setting attributes cannot add an application password")
    func attributes_withANewApplicationPassword_areRefused() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("plain", session: session)
            await #expect(throws: BusError.invalidArgs) {
                try await client.setProperty(
                    "Attributes",
                    of: item,
                    Interface.item,
                    to: .stringDictionary([Reserved.accessControl: "applicationPassword"])
                )
            }
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }

    private func create(
        _ accessControl: String,
        _ client: SecretServiceProxy,
        _ session: ObjectPath,
        replace: Bool = false
    ) async throws -> (item: ObjectPath, prompt: ObjectPath) {
        try await client.createItem(
            properties: SecretServiceProxy.itemProperties(label: "Own", [Reserved.accessControl: accessControl]),
            secret: WireSecret(session: session, value: Array("secret".utf8)),
            replace: replace
        )
    }
}
