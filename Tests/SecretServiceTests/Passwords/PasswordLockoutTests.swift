import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Delays for passwords other than the passcode.
@Suite(.onLoop)
struct PasswordLockoutTests {
    /// A clock set by the test.
    ///
    /// `@unchecked Sendable`: used only on the event-loop thread.
    final class Time: @unchecked Sendable {
        var now = Duration.seconds(1000)

        var clock: BootClock { BootClock(bootID: "boot") { self.now } }
    }

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
        let prompter = try FakePrompter(on: service.bus, answers)
        let outcome = try await service.client.complete(try await service.client.unlock([item]).prompt)
        prompter.crash()
        return (!outcome.isDismissed, prompter.questions.all.compactMap { $0.text("warning") })
    }

    @Test("a program that supplies passwords cannot guess one, and delays the dialog for the same item")
    @BusActor
    func suppliedPassword_isNotFoundByTrying() async throws {
        let time = Time()
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
        let time = Time()
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
        let time = Time()
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

    @Test("above the limit, only records without a delay are dropped; otherwise new ones share a record")
    @BusActor
    func records_areBounded() async throws {
        let time = Time()
        let service = try await ProviderInProcess()
        let table = LockoutTable(service.vault, clock: time.clock, logger: service.logger, limit: 2)
        var collections: [Collection] = []
        for label in ["a", "b", "c", "d"] {
            collections.append(
                try await service.vault.createCollection(label: label, password: ProviderInProcess.bytes("right"))
            )
        }
        func fail(_ index: Int, times: Int) async throws {
            for _ in 0..<times {
                let keeper = try #require(table.keeper(of: collections[index], for: .people))
                _ = await keeper.attempt(try ProviderInProcess.bytes("wrong"), on: WrongPassword())
            }
        }
        func delay(_ index: Int) async throws -> Duration {
            try await #require(table.keeper(of: collections[index], for: .people)).passcodeDelay()
        }
        try await fail(0, times: 4)
        try await fail(1, times: 4)
        // Each one delays something.
        try await fail(2, times: 4)
        #expect(try await delay(3) == .seconds(1))
        #expect(service.vault.lockoutOwners.count == 2)
        time.now += .seconds(1)
        try await fail(1, times: 1)
        // The first one is the least advanced and delays nothing.
        #expect(try await delay(3) == .zero)
        try await fail(3, times: 1)
        #expect(try await delay(1) == .seconds(5))
        #expect(service.vault.lockoutOwners.count == 2)
        await service.vault.close()
    }

    @Test("a count that makes room for others does not allow three more guesses")
    @BusActor
    func droppedCount_isNotForgotten() async throws {
        let time = Time()
        let service = try await ProviderInProcess()
        var collections: [Collection] = []
        for label in ["guessed", "a", "b", "c"] {
            collections.append(
                try await service.vault.createCollection(label: label, password: ProviderInProcess.bytes("right"))
            )
        }
        var table = LockoutTable(service.vault, clock: time.clock, logger: service.logger, limit: 2)
        func fail(_ index: Int, for party: LockoutParty = .programs, times: Int = 1) async throws -> Duration {
            let keeper = try #require(table.keeper(of: collections[index], for: party))
            for _ in 0..<times { _ = await keeper.attempt(try ProviderInProcess.bytes("wrong"), on: WrongPassword()) }
            return await keeper.passcodeDelay()
        }
        #expect(try await fail(0, times: 3) == .zero)
        #expect(try await fail(1, times: 4) == .seconds(1))
        time.now += .seconds(1)
        // It takes the place of the guessed one, which then takes that of the other one.
        #expect(try await fail(2) == .seconds(1))
        #expect(try await fail(0) == .seconds(5))
        time.now += .seconds(5)
        // Also for the next process; but before a wrong password nothing is delayed.
        table = LockoutTable(service.vault, clock: time.clock, logger: service.logger, limit: 2)
        #expect(try await #require(table.keeper(of: collections[3], for: .programs)).passcodeDelay() == .zero)
        #expect(try await fail(3) == .seconds(5))
        // A person's typing is not delayed for it.
        #expect(try await fail(3, for: .people) == .zero)
        #expect(service.vault.lockoutOwners.count == 2)
        await service.vault.close()
    }

    @Test("a right password clears no count that it shares with others")
    @BusActor
    func sharedCount_isNotClearedByARightPassword() async throws {
        let time = Time()
        let service = try await ProviderInProcess()
        let table = LockoutTable(service.vault, clock: time.clock, logger: service.logger, limit: 1)
        var collections: [Collection] = []
        for label in ["full", "guessed", "own"] {
            collections.append(
                try await service.vault.createCollection(label: label, password: ProviderInProcess.bytes("right"))
            )
        }
        func attempt(_ index: Int, _ password: some PasswordVerifier) async throws -> PasswordResult {
            let keeper = try #require(table.keeper(of: collections[index], for: .programs))
            return await keeper.attempt(try ProviderInProcess.bytes("password"), on: password)
        }
        for _ in 0..<4 { _ = try await attempt(0, WrongPassword()) }
        for _ in 0..<3 { #expect(try await attempt(1, WrongPassword()) == .wrong()) }
        #expect(try await attempt(2, RightPassword()) == .right)
        #expect(try await attempt(1, WrongPassword()) == .wrong(wait: .seconds(1)))
        await service.vault.close()
    }

    @BusActor
    private final class WrongPassword: PasswordVerifier {
        nonisolated init() {}

        var isSet: Bool { true }

        func verify(_ passcode: consuming SecureBytes) async -> PasswordResult { .wrong() }
    }

    @BusActor
    private final class RightPassword: PasswordVerifier {
        nonisolated init() {}

        var isSet: Bool { true }

        func verify(_ passcode: consuming SecureBytes) async -> PasswordResult { .right }
    }
}
