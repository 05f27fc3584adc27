import DBus
import TestSupport
import Testing

struct OwnerTests {
    private static let name = "test.keychaind.Name"

    @Test
    func owner_ownedName_isItsConnection() async throws {
        try await OwnerTests.run { first, second in
            let outcome = try second.requestName(OwnerTests.name)
            #expect(outcome == .owner)
            for name in [OwnerTests.name, second.uniqueName] {
                let owner = try await first.owner(of: name)
                #expect(owner == second.uniqueName)
            }
        }
    }

    @Test
    func owner_otherName_isNil() async throws {
        try await OwnerTests.run { first, second in
            let missing = try await first.owner(of: OwnerTests.name)
            #expect(missing == nil)
            let gone = second.uniqueName
            second.close()
            // The bus may still have to notice.
            let vanished = Recorder<String>()
            first.onNameVanished { vanished.record($0) }
            if try await first.owner(of: gone) != nil {
                _ = try await vanished.first("the end of the connection") { $0 == gone }
            }
            let owner = try await first.owner(of: gone)
            #expect(owner == nil)
        }
    }

    @Test
    func startService_noServiceFile_isServiceUnknown() async throws {
        try await OwnerTests.run { first, _ in
            await #expect(throws: BusError(.serviceUnknown, "")) {
                try await first.startService(OwnerTests.name)
            }
        }
    }

    @Test
    func startService_programFails_isSpawnError() async throws {
        let service = ActivatableService(name: OwnerTests.name, command: ["/bin/false"])
        try await OwnerTests.run(on: PrivateBus(services: [service])) { first, _ in
            let error = await #expect(throws: BusError.self) {
                try await first.startService(OwnerTests.name)
            }
            #expect(error?.name.rawValue.hasPrefix("org.freedesktop.DBus.Error.Spawn.") == true)
        }
    }

    private static func run(
        _ body: @BusActor (_ first: Connection, _ second: Connection) async throws -> Void
    ) async throws {
        try await run(on: PrivateBus(), body)
    }

    @BusActor
    private static func run(
        on bus: PrivateBus,
        _ body: @BusActor (_ first: Connection, _ second: Connection) async throws -> Void
    ) async throws {
        let (first, second) = (try bus.connect(), try bus.connect())
        defer {
            first.close()
            second.close()
        }
        try await body(first, second)
    }
}
