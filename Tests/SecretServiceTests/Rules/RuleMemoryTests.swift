import KeychaindDBus
import KeychaindTestSupport
import Testing

/// How long it is remembered what a person has allowed once.
struct RuleMemoryTests {
    private static let label = ["org.freedesktop.Secret.Collection.Label": Variant.string("Work")]

    @Test("what was allowed once is asked again for another item at the same path, after the keychain was deleted")
    func askOnce_keychainMadeAgain_asksAgain() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            func makeKeychain() async throws -> (ObjectPath, item: ObjectPath) {
                let work = try await client.createWithMasterPassword(Self.label, .password("work", session))
                return (work, try await client.createItem(in: work, "Till", ["service": "till"], session: session))
            }
            try await client.addRules("ask-once any service=till")
            let (work, first) = try await makeKeychain()
            _ = try await service.unlock([first], as: client)
            #expect(try await client.secretText(of: first, session: session) == "secret")
            let questions = prompter.questions.count

            #expect(try await client.deleteCollection(work) == .root)
            let second = try await makeKeychain().item
            #expect(second == first)
            #expect(try await client.isItemLocked(second))
            await #expect(throws: BusError.isLocked) { try await client.secret(of: second, session: session) }
            #expect(prompter.questions.count == questions)
            _ = try await service.unlock([second], as: client)
            #expect(try await client.secretText(of: second, session: session) == "secret")
            #expect(prompter.questions.count == questions + 1)
        }
    }

    @Test("what was allowed once stays allowed when the keychain is locked and unlocked")
    func askOnce_keychainLocked_isNotAskedAgain() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let password = WireSecret.password("work", session)
            let work = try await client.createWithMasterPassword(Self.label, password)
            let item = try await client.createItem(in: work, "Till", ["service": "till"], session: session)
            try await client.addRules("ask-once any service=till")
            _ = try await service.unlock([item], as: client)
            let questions = prompter.questions.count
            try await client.lock([work])
            try await client.unlockWithMasterPassword(work, password)
            #expect(try await client.secretText(of: item, session: session) == "secret")
            #expect(prompter.questions.count == questions)
        }
    }
}
