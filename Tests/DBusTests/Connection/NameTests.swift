import Glibc
import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct NameTests {
    private let name = "org.example.Name"

    @Test
    @BusActor
    func requestName_freeName_isOwned() async throws {
        let (bus, first, _) = try await connections()
        #expect(try first.requestName(name) == .owner)
        #expect(try first.requestName(name) == .owner)
        first.close()
        _ = bus
    }

    @Test
    @BusActor
    func requestName_takenName_staysWithOwner() async throws {
        let (bus, first, second) = try await connections()
        #expect(try first.requestName(name) == .owner)
        #expect(try second.requestName(name) == .ownedByAnother)
        #expect(try second.requestName(name, options: .replaceExisting) == .ownedByAnother)
        close(bus, first, second)
    }

    @Test
    @BusActor
    func requestName_replaceableOwner_isReplaced() async throws {
        let (bus, first, second) = try await connections()
        let lost = Recorder<String>()
        first.subscribe(to: .nameLost) { message in
            if let name = try? message.read(String.self) { lost.record(name) }
        }
        #expect(try first.requestName(name, options: .allowReplacement) == .owner)
        #expect(try second.requestName(name) == .ownedByAnother)
        #expect(try second.requestName(name, options: .replaceExisting) == .owner)
        let name = name
        _ = try await lost.first("the loss") { $0 == name }
        #expect(try first.requestName(name) == .ownedByAnother)
        close(bus, first, second)
    }

    @Test
    @BusActor
    func requestName_takenName_isNotQueued() async throws {
        let (bus, first, second) = try await connections()
        let vanished = Recorder<String>()
        second.onNameVanished { vanished.record($0) }
        #expect(try first.requestName(name) == .owner)
        #expect(try second.requestName(name) == .ownedByAnother)
        first.close()
        let name = name
        _ = try await vanished.first("the end of the owner") { $0 == name }
        #expect(try second.requestName(name) == .owner)
        close(bus, first, second)
    }

    @Test
    @BusActor
    func onNameVanished_connectionEnds_reportsAllNames() async throws {
        let (bus, first, second) = try await connections()
        let vanished = Recorder<String>()
        second.onNameVanished { vanished.record($0) }
        _ = try first.requestName(name)
        let unique = first.uniqueName
        first.close()
        let name = name
        _ = try await vanished.first("the well-known name") { $0 == name }
        _ = try await vanished.first("the unique name") { $0 == unique }
        #expect(!vanished.all.contains(second.uniqueName))
        close(bus, first, second)
    }

    @Test
    @BusActor
    func requestName_invalidName_fails() async throws {
        let (bus, first, second) = try await connections()
        #expect(throws: BusError.self) { _ = try first.requestName("org.freedesktop.DBus") }
        close(bus, first, second)
    }

    @Test
    @BusActor
    func acquireName_manyDescriptorsBeforeTheReply_isOwned() async throws {
        let (bus, first, second) = try await connections()
        let flood = try RawClient(bus.address)
        let null = FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
        // More than libdbus keeps; nothing is read before the request.
        for _ in 0..<20 {
            let message = Message.call(to: first.uniqueName, .root, name, "Take")
            message.append([FileDescriptor](repeating: null, count: 16))
            flood.send(message)
        }
        try flood.waitForBus()
        #expect(try await first.acquireName(name) == .owner)
        #expect(try await second.acquireName(name) == .ownedByAnother)
        close(bus, first, second)
    }

    @Test
    @BusActor
    func acquireName_lostWithTheReply_isTold() async throws {
        // `first` connects last: a bus that has not waited since a connection's last message takes that one's next
        // message before others that arrived earlier.
        let (bus, second, first) = try await connections()
        let lost = Recorder<Void>()
        bus.pause()
        defer { bus.resume() }
        BusActor.start { [name] in
            _ = try? await first.acquireName(name, options: .allowReplacement) { lost.record(()) }
        }
        repeat { await BusActor.loop.wait(for: .zero) } while first.bytesToSend > 0
        bus.resume()
        // Blocks the loop, which then reads the reply and the signal together.
        #expect(try second.requestName(name, options: .replaceExisting) == .owner)
        _ = try await lost.first("the loss")
        close(bus, first, second)
    }

    @BusActor
    private func connections() async throws -> (PrivateBus, Connection, Connection) {
        let bus = try await PrivateBus()
        return (bus, try bus.connect(), try bus.connect())
    }

    @BusActor
    private func close(_ bus: PrivateBus, _ connections: Connection...) {
        for connection in connections {
            connection.close()
        }
    }
}

struct OwnerTests {
    private static let name = "test.keychaind.Name"

    @Test
    func owner_ownedName_isUniqueName() async throws {
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
    func owner_unownedName_isNil() async throws {
        try await OwnerTests.run { first, second in
            let missing = try await first.owner(of: OwnerTests.name)
            #expect(missing == nil)
            let gone = second.uniqueName
            second.close()
            // The bus may not have noticed yet.
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
