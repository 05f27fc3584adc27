import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// The counts of wrong passwords when there are more than are kept.
@Suite(.onLoop)
struct LockoutTableTests {
    @BusActor
    private func makeCollections(_ labels: [String], in service: ProviderInProcess) async throws -> [Collection] {
        var collections: [Collection] = []
        for label in labels {
            collections.append(
                try await service.vault.createCollection(label: label, password: ProviderInProcess.bytes("right"))
            )
        }
        return collections
    }

    @Test("above the limit, only records without a delay are dropped; otherwise new ones share a record")
    @BusActor
    func records_areBounded() async throws {
        let time = TestClock()
        let service = try await ProviderInProcess()
        let table = LockoutTable(service.vault, clock: time.clock, logger: service.logger, limit: 2)
        let collections = try await makeCollections(["a", "b", "c", "d"], in: service)
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
        let time = TestClock()
        let service = try await ProviderInProcess()
        let collections = try await makeCollections(["guessed", "a", "b", "c"], in: service)
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
        let time = TestClock()
        let service = try await ProviderInProcess()
        let table = LockoutTable(service.vault, clock: time.clock, logger: service.logger, limit: 1)
        let collections = try await makeCollections(["full", "guessed", "own"], in: service)
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
