import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Application passwords that a program supplies to its context.
struct CredentialTests {
    private static let interface = "org.keychaind.Item1"

    private func withContext(
        _ responses: [PromptResponse] = [.answer("password")],
        _ body: (RunningService, FakePrompter, ContextClient, ObjectPath) async throws -> Void
    ) async throws {
        try await RunningService.withPrompter(responses) { service, prompter in
            let session = try await service.client.openPlainSession()
            let context = try await ContextClient(service.client)
            try await body(service, prompter, context, session)
        }
    }

    private func create(
        _ client: SecretServiceProxy,
        _ session: ObjectPath,
        in context: ObjectPath,
        _ accessControl: String = "applicationPassword"
    ) async throws(BusError) -> (item: ObjectPath, prompt: ObjectPath) {
        let attributes = ["service": "bank", Reserved.accessControl: accessControl]
        var properties = SecretServiceProxy.itemProperties(label: "Bank", attributes)
        properties[Self.interface + ".Context"] = .objectPath(context)
        let secret = WireSecret(session: session, value: Array("secret".utf8))
        return try await client.createItem(properties: properties, secret: secret)
    }

    @Test("a supplied password stores and opens an item, and nobody is asked")
    func password_opensItsItem() async throws {
        try await withContext { service, prompter, context, session in
            let client = service.client
            try await context.setCredential("own", session: session)
            let (item, prompt) = try await create(client, session, in: context.path)
            #expect(prompt == .root)
            #expect(try await client.isItemLocked(item))
            #expect(try await context.unlock([item]).unlocked == [item])
            #expect(try await client.secretText(of: item, session: session) == "secret")
            #expect(prompter.questions.count == 0)
            // Neither another program nor another context has the password, nor this one after its end.
            try await client.lock([item])
            let other = try await service.makeClient()
            #expect(try await other.isItemLocked(item))
            #expect(try await ContextClient(other).unlock([item]).prompt != .root)
            #expect(try await ContextClient(client).unlock([item]).prompt != .root)
            try await context.setCredential("", session: session)
            #expect(try await context.unlock([item]).prompt != .root)
            try await context.setCredential("own", session: session)
            try await context.call("Invalidate")
            await #expect(throws: BusError.self) { try await context.unlock([item]) }
        }
    }

    @Test("a wrong password opens nothing, but other items")
    func wrongPassword_opensNothing() async throws {
        try await withContext { service, prompter, context, session in
            let client = service.client
            try await context.setCredential("own", session: session)
            let item = try await create(client, session, in: context.path).item
            try await context.setCredential("wrong", session: session)
            await #expect(throws: BusError(.init(rawValue: "org.keychaind.Error.AuthenticationFailed"), "")) {
                try await context.unlock([item])
            }
            let free = try await client.createItem("Free", ["n": "1"], session: session)
            let (unlocked, prompt) = try await context.unlock([item, free])
            #expect(unlocked == [free] && prompt == .root)
            #expect(try await client.isItemLocked(item))
            #expect(prompter.questions.count == 0)
        }
    }

    @Test("a policy of two factors takes both, the password from the program")
    func twoFactors_areBothNeeded() async throws {
        try await withContext { service, prompter, context, session in
            let client = service.client
            try await context.setCredential("own", session: session)
            let policy = "devicePasscode and applicationPassword"
            let (item, prompt) = try await create(client, session, in: context.path, policy)
            #expect(prompt == .root)
            #expect(try await context.unlock([item]).prompt != .root)
            try await context.evaluate("devicePasscode")
            #expect(try await context.unlock([item]).unlocked == [item])
            #expect(try await client.secretText(of: item, session: session) == "secret")
            #expect(prompter.questions.count == 1)
        }
    }

    @Test("the context of another client, and a password that is too long, are of no use")
    func badInput_isRefused() async throws {
        try await withContext { service, _, context, session in
            let long = String(repeating: "x", count: 1025)
            await #expect(throws: BusError(.limitsExceeded, "")) {
                try await context.setCredential(long, session: session)
            }
            try await context.setCredential("own", session: session)
            let other = try await service.makeClient()
            let theirs = try await other.openPlainSession()
            #expect(try await create(other, theirs, in: context.path).prompt != .root)
            #expect(try await create(other, theirs, in: ObjectPath(unchecked: "/nowhere")).prompt != .root)
            // A secret of another client's session.
            await #expect(throws: BusError.self) { try await context.setCredential("x", session: theirs) }
        }
    }
}
