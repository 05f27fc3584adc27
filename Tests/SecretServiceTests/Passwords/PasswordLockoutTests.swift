import KeychaindDBus
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Delays for passwords other than the passcode.
@Suite(.onLoop)
struct PasswordLockoutTests {
    private static let properties = SecretServiceProxy.itemProperties(
        label: "Own",
        ["service": "own", Reserved.accessControl: "applicationPassword"]
    )

    /// Unlocks an item through a prompter that answers at once.
    @BusActor
    private func unlock(
        _ item: ObjectPath,
        in service: ProviderInProcess,
        _ answers: [PromptResponse]
    ) async throws -> (isOpen: Bool, warnings: [String]) {
        try await service.answering(answers) {
            try await !service.client.complete(try await service.client.unlock([item]).prompt).isDismissed
        }
    }

    @Test("a program that supplies passwords cannot guess one, and delays the dialog for the same item")
    @BusActor
    func suppliedPassword_isNotFoundByTrying() async throws {
        let time = TestClock()
        let service = try await ProviderInProcess(clock: time.clock)
        _ = try await service.unlock([.answer(ProviderInProcess.password)])
        let session = try await service.client.openPlainSession()
        let context = try await ContextClient(service.client)
        try await context.setCredential("0004", session: session)
        var properties = Self.properties
        properties["org.keychaind.Item1.Context"] = .objectPath(context.path)
        let secret = WireSecret(session: session, value: [1])
        let item = try await service.client.createItem(properties: properties, secret: secret).item
        let refused = BusError(.init(rawValue: "org.keychaind.Error.AuthenticationFailed"), "")
        for number in 0..<5 {
            // The last one is right, but not checked any more.
            try await context.setCredential("000\(number)", session: session)
            await #expect(throws: refused) { try await context.unlock([item]) }
        }
        #expect(try await !unlock(item, in: service, [.answer("0004")]).isOpen)
        time.now += .seconds(1)
        #expect(try await context.unlock([item]).unlocked == [item])
        await service.vault.close()
    }

    @Test("a prompter that answers at once cannot guess a password of four digits, even with a restart")
    @BusActor
    func applicationPassword_isNotFoundByTrying() async throws {
        let time = TestClock()
        var service = try await ProviderInProcess(clock: time.clock)
        _ = try await service.unlock([.answer(ProviderInProcess.password)])
        let session = try await service.client.openPlainSession()
        let chooser = try FakePrompter(on: service.bus, [.answer("0004")])
        let creation = try await service.client.createItem(
            properties: Self.properties,
            secret: WireSecret(session: session, value: [1])
        )
        let item = try #require(try await service.client.complete(creation.prompt).path)
        chooser.crash()
        // Four wrong ones, and then the right one, which is not checked any more.
        let guesses = (0..<5).map { PromptResponse.answer("000\($0)") }
        let (isOpen, warnings) = try await unlock(item, in: service, guesses)
        #expect(!isOpen && warnings.last?.contains("Wait one second") == true)
        #expect(try await !unlock(item, in: service, [.answer("0004")]).isOpen)
        // Neither the passcode nor another item is delayed.
        let bank = try await service.client.createProtectedItem(session: session)
        #expect(try await unlock(bank, in: service, [.answer(ProviderInProcess.password)]).isOpen)
        await service.vault.close()

        service = try await ProviderInProcess(clock: time.clock, folder: service.folder)
        _ = try await service.unlock([.answer(ProviderInProcess.password)])
        #expect(try await !unlock(item, in: service, [.answer("0004")]).isOpen)
        // Each further wrong one increases the delay.
        time.now += .seconds(1)
        let (_, later) = try await unlock(item, in: service, [.answer("0000"), .cancel])
        #expect(later.last?.contains("5 seconds") == true)
        time.now += .seconds(4)
        #expect(try await !unlock(item, in: service, [.answer("0004")]).isOpen)
        time.now += .seconds(1)
        #expect(try await unlock(item, in: service, [.answer("0004")]).isOpen)
        #expect(service.vault.lockoutOwners.isEmpty)
        await service.vault.close()
    }

    @Test("wrong passwords for a keychain delay programs, not the user")
    @BusActor
    func passwordOfAnotherKeychain_isNotFoundByTrying() async throws {
        let time = TestClock()
        let service = try await ProviderInProcess(clock: time.clock)
        let client = service.client
        let session = try await client.openPlainSession()
        let work = try await client.createWithMasterPassword([:], .password("work", session))
        try await client.lock([work])
        for _ in 0..<4 {
            await #expect(throws: Self.denied) {
                try await client.unlockWithMasterPassword(work, .password("x", session))
            }
        }
        await #expect(throws: Self.denied) {
            try await client.unlockWithMasterPassword(work, .password("work", session))
        }
        await #expect(throws: Self.denied) {
            try await client.changeWithMasterPassword(
                work,
                from: .password("work", session),
                to: .password("y", session)
            )
        }
        // Neither `login`'s password nor the user's typing is delayed.
        try await client.unlockWithMasterPassword(.login, .password(ProviderInProcess.password, session))
        let prompter = try FakePrompter(on: service.bus, [.answer("work")])
        #expect(try await client.complete(client.unlock([work]).prompt).paths == [work.rawValue])
        prompter.crash()
        try await client.lock([work])
        time.now += .seconds(1)
        try await client.unlockWithMasterPassword(work, .password("work", session))
        await service.vault.close()
    }

    private static let denied = BusError(.init(rawValue: "org.gnome.keyring.Error.Denied"), "")

    @Test("the failure record of an item or keychain is deleted with it")
    @BusActor
    func records_goWithWhatTheyAreOf() async throws {
        let service = try await ProviderInProcess()
        let client = service.client
        let session = try await client.openPlainSession()
        let work = try await client.createWithMasterPassword([:], .password("work", session))
        let chooser = try FakePrompter(on: service.bus, [.answer("own")])
        let creation = try await client.createItem(
            in: work,
            properties: Self.properties,
            secret: WireSecret(session: session, value: [1])
        )
        let item = try #require(try await client.complete(creation.prompt).path)
        chooser.crash()
        _ = try await unlock(item, in: service, [.answer("x"), .cancel])
        try await client.lock([work])
        await #expect(throws: Self.denied) { try await client.unlockWithMasterPassword(work, .password("x", session)) }
        #expect(service.vault.lockoutOwners.count == 2)
        try await client.unlockWithMasterPassword(work, .password("work", session))
        #expect(service.vault.lockoutOwners.count == 1)
        let prompter = try FakePrompter(on: service.bus, [.answer("")])
        _ = try await client.complete(client.deleteCollection(work))
        prompter.crash()
        #expect(service.vault.lockoutOwners.isEmpty)
        await service.vault.close()
    }
}
