import KeychaindTestSupport
import SecretServiceClient
import Testing

struct LockingTests {
    /// Runs a test with a locked collection that contains an item, and a person.
    private static func withLocked(
        _ response: PromptResponse,
        _ provider: TestedProvider = .keychaind,
        _ body: (RunningProvider, SecretClient, SecretItem, FakePrompter) async throws -> Void
    ) async throws {
        try await provider.withProvider { provider, client in
            let (item, _) = try await client.makeItem()
            try await client.login().lock()
            let prompter = try await provider.answerPrompts(response)
            try await body(provider, client, item, prompter)
            await prompter.crash()
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func unlock_rightPassword_isUnlocked(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, client in
            let (item, attributes) = try await client.makeItem()
            try await client.login().lock()
            #expect(try await item.isLocked())
            #expect(try await client.login().isLocked())
            #expect(try await client.search(attributes).locked == [item])
            let prompter = try await provider.answerPrompts(.answer("password"))
            try await item.unlock()
            #expect(try await !item.isLocked())
            #expect(try await item.secret().text == "secret")
            #expect(prompter.questions.count == 1)
            await prompter.crash()
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func secret_locked_asksAndIsRead(provider: TestedProvider) async throws {
        try await Self.withLocked(.answer("password"), provider) { _, _, item, _ in
            let secret = try await item.secret()
            #expect(secret.text == "secret")
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func createItem_locked_asksAndIsMade(provider: TestedProvider) async throws {
        try await Self.withLocked(.answer("password"), provider) { _, client, _, _ in
            let item = try await client.login().createItem(label: "", attributes: ["a": "b"], secret: Secret("new"))
            #expect(try await item.secret().text == "new")
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func secret_lockedAndNobodyMayBeAsked_isLocked(provider: TestedProvider) async throws {
        try await Self.withLocked(.answer("password"), provider) { _, _, item, prompter in
            let reading = try await code { try await item.secret(prompting: .never) }
            #expect(reading == .locked)
            let unlocking = try await code { try await item.unlock(prompting: .never) }
            #expect(unlocking == .interactionNotAllowed)
            #expect(prompter.questions.count == 0)
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func secret_personRefuses_isDismissed(provider: TestedProvider) async throws {
        try await Self.withLocked(.cancel, provider) { _, _, item, prompter in
            let failure = try await code { try await item.secret() }
            #expect(failure == .dismissed)
            #expect(prompter.questions.count == 1)
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func unlock_severalObjects_givesThoseUnlocked(provider: TestedProvider) async throws {
        try await Self.withLocked(.answer("password"), provider) { _, client, item, _ in
            let login = try await client.login()
            let missing = try client.collection(at: "/org/freedesktop/secrets/collection/nonsense")
            let unlocked = try await client.unlock([login, item, missing]).map(\.path)
            #expect(unlocked.contains(login.path) && !unlocked.contains(missing.path))
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func unlock_severalItems_givesItems(provider: TestedProvider) async throws {
        let client = try await provider.makeClient()
        let items = [try await client.makeItem().item, try await client.makeItem().item]
        let unlocked: [SecretItem] = try await client.unlock(items)
        #expect(unlocked == items)
    }

    @Test("An unanswered prompt is dismissed at its time limit, with its dialog")
    func unlock_promptForEver_timesOut() async throws {
        try await Self.withLocked(.hang) { _, client, _, prompter in
            let login = try await client.login()
            // Until the dialog was open at the time limit.
            for timeout in Patience.growing where !prompter.calls.all.contains("BeginPrompting") {
                #expect(
                    try await code {
                        try await login.unlock(prompting: SecretPrompting(timeout: timeout))
                    } == .timedOut
                )
            }
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
        }
    }

    @Test("A cancelled call returns immediately, and its dialog closes")
    func unlock_cancelled_dismissesThePrompt() async throws {
        try await Self.withLocked(.hang) { _, client, _, prompter in
            let login = try await client.login()
            let unlocking = Task { try await code { try await login.unlock() } }
            _ = try await prompter.questions.first("the question")
            unlocking.cancel()
            #expect(try await unlocking.value == .cancelled)
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func unlock_providerDiesWhileItAsks_isProviderGone(provider: TestedProvider) async throws {
        try await Self.withLocked(.hang, provider) { provider, client, _, prompter in
            let login = try await client.login()
            let unlocking = Task { try await code { try await login.unlock() } }
            _ = try await prompter.questions.first("the question")
            try await provider.kill()
            #expect(try await unlocking.value == .providerGone)
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func unlock_busDiesWhileItAsks_isDisconnected(provider: TestedProvider) async throws {
        try await Self.withLocked(.hang, provider) { provider, client, _, prompter in
            let login = try await client.login()
            let unlocking = Task { try await code { try await login.unlock() } }
            _ = try await prompter.questions.first("the question")
            try await provider.bus.kill()
            #expect(try await unlocking.value == .disconnected)
            #expect(try await code { try await client.collections() } == .disconnected)
        }
    }
}
