import DBus
import TestSupport
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
    func requestName_takenName_isLeftToItsOwner() async throws {
        let (bus, first, second) = try await connections()
        #expect(try first.requestName(name) == .owner)
        #expect(try second.requestName(name) == .ownedByAnother)
        #expect(try second.requestName(name, options: .replaceExisting) == .ownedByAnother)
        close(bus, first, second)
    }

    @Test
    @BusActor
    func requestName_ownerThatAllowsIt_isReplaced() async throws {
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
    func requestName_takenName_isNotWaitedFor() async throws {
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
    func onNameVanished_connectionThatEnds_tellsAllItsNames() async throws {
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
