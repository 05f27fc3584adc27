import Authentication
import DBus
import Gcrypt
import SecretService
import TestSupport
import Testing
import Vault

/// Passwords other than the passcode have delays, too.
@Suite(.onLoop)
struct PasswordLockoutTests {
    /// A clock that a test sets.
    ///
    /// `@unchecked Sendable`: used on the loop's thread only.
    final class Time: @unchecked Sendable {
        var now = Duration.seconds(1000)

        var clock: BootClock { BootClock(bootID: "boot") { self.now } }
    }

    private static let properties = SecretServiceProxy.itemProperties(
        label: "Own",
        ["service": "own", Reserved.accessControl: "applicationPassword"]
    )

    /// Unlocks an item with what a prompter says that answers at once.
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

    @Test("a password of four digits is not found by a prompter that answers at once, nor after a restart")
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
        // Four wrong ones, and then the right one, which is not tried any more.
        let guesses = (0..<5).map { PromptResponse.answer("000\($0)") }
        let (isOpen, warnings) = try await unlock(item, in: service, guesses)
        #expect(!isOpen && warnings.last?.contains("Wait one second") == true)
        #expect(try await !unlock(item, in: service, [.answer("0004")]).isOpen)
        // The passcode is not delayed by it, and nor is another item.
        let bank = try await service.client.createProtectedItem(session: session)
        #expect(try await unlock(bank, in: service, [.answer(ProviderInProcess.password)]).isOpen)
        await service.vault.close()

        service = try await ProviderInProcess(clock: time.clock, folder: service.folder)
        _ = try await service.unlock([.answer(ProviderInProcess.password)])
        #expect(try await !unlock(item, in: service, [.answer("0004")]).isOpen)
        // Each further wrong one costs more.
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

    @Test("programs that bring wrong passwords of a keychain wait, and people do not")
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
        // Neither that of `login` nor what a person types is delayed.
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

    @Test("the record of an item goes with the item, and that of a keychain with the keychain")
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

    @Test("past the limit a record goes only if it delays nothing; else new ones share one")
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
        // Each delays something.
        try await fail(2, times: 4)
        #expect(try await delay(3) == .seconds(1))
        #expect(service.vault.lockoutOwners.count == 2)
        time.now += .seconds(1)
        try await fail(1, times: 1)
        // The first is the least advanced, and delays nothing.
        #expect(try await delay(3) == .zero)
        try await fail(3, times: 1)
        #expect(try await delay(1) == .seconds(5))
        #expect(service.vault.lockoutOwners.count == 2)
        await service.vault.close()
    }

    @BusActor
    private final class WrongPassword: PasswordVerifier {
        nonisolated init() {}

        var isSet: Bool { true }

        func verify(_ passcode: consuming SecureBytes) async -> PasswordResult { .wrong() }
    }
}
