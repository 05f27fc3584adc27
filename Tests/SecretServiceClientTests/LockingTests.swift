import SecretServiceClient
import TestSupport
import Testing

struct LockingTests {
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
        try await provider.withProvider { provider, client in
            let (item, _) = try await client.makeItem()
            try await client.login().lock()
            let prompter = try await provider.answerPrompts(.answer("password"))
            #expect(try await item.secret().text == "secret")
            await prompter.crash()
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func createItem_locked_asksAndIsMade(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, client in
            let login = try await client.login()
            try await login.lock()
            let prompter = try await provider.answerPrompts(.answer("password"))
            let item = try await login.createItem(label: "", attributes: ["a": "b"], secret: Secret("new"))
            #expect(try await item.secret().text == "new")
            await prompter.crash()
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func secret_lockedAndNobodyMayBeAsked_isLocked(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, client in
            let (item, _) = try await client.makeItem()
            try await client.login().lock()
            let prompter = try await provider.answerPrompts(.answer("password"))
            #expect(try await code { try await item.secret(prompting: .never) } == .locked)
            #expect(
                try await code {
                    try await item.unlock(prompting: .never)
                } == .interactionNotAllowed
            )
            #expect(prompter.questions.count == 0)
            await prompter.crash()
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func secret_personRefuses_isDismissed(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, client in
            let (item, _) = try await client.makeItem()
            try await client.login().lock()
            let prompter = try await provider.answerPrompts(.cancel)
            #expect(try await code { try await item.secret() } == .dismissed)
            #expect(prompter.questions.count == 1)
            await prompter.crash()
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func unlock_severalObjects_givesThoseUnlocked(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, client in
            let (item, _) = try await client.makeItem()
            let login = try await client.login()
            try await client.lock([login])
            let prompter = try await provider.answerPrompts(.answer("password"))
            let missing = try client.collection(at: "/org/freedesktop/secrets/collection/nonsense")
            let unlocked = try await client.unlock([login, item, missing]).map(\.path)
            #expect(unlocked.contains(login.path) && !unlocked.contains(missing.path))
            await prompter.crash()
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func unlock_severalItems_givesItems(provider: TestedProvider) async throws {
        let client = try await provider.makeClient()
        let items = [try await client.makeItem().item, try await client.makeItem().item]
        let unlocked: [SecretItem] = try await client.unlock(items)
        #expect(unlocked == items)
    }

    @Test("A prompt that nobody answers is dismissed when its time is up, and the dialog goes")
    func unlock_promptForEver_timesOut() async throws {
        try await TestedProvider.keychaind.withProvider { provider, client in
            let login = try await client.login()
            try await login.lock()
            let prompter = try await provider.answerPrompts(.hang)
            // Until the dialog was there when the time was up.
            for timeout in Patience.growing where !prompter.calls.all.contains("BeginPrompting") {
                #expect(
                    try await code {
                        try await login.unlock(prompting: SecretPrompting(timeout: timeout))
                    } == .timedOut
                )
            }
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
            await prompter.crash()
        }
    }

    @Test("Who is cancelled returns at once, and the dialog goes")
    func unlock_cancelled_dismissesThePrompt() async throws {
        try await TestedProvider.keychaind.withProvider { provider, client in
            let login = try await client.login()
            try await login.lock()
            let prompter = try await provider.answerPrompts(.hang)
            let unlocking = Task { try await code { try await login.unlock() } }
            _ = try await prompter.questions.first("the question")
            unlocking.cancel()
            #expect(try await unlocking.value == .cancelled)
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
            await prompter.crash()
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func unlock_providerDiesWhileItAsks_isProviderGone(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, client in
            let login = try await client.login()
            try await login.lock()
            let prompter = try await provider.answerPrompts(.hang)
            let unlocking = Task { try await code { try await login.unlock() } }
            _ = try await prompter.questions.first("the question")
            try await provider.kill()
            #expect(try await unlocking.value == .providerGone)
            await prompter.crash()
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func unlock_busDiesWhileItAsks_isDisconnected(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, client in
            let login = try await client.login()
            try await login.lock()
            let prompter = try await provider.answerPrompts(.hang)
            let unlocking = Task { try await code { try await login.unlock() } }
            _ = try await prompter.questions.first("the question")
            try await provider.bus.kill()
            #expect(try await unlocking.value == .disconnected)
            #expect(try await code { try await client.collections() } == .disconnected)
        }
    }
}
