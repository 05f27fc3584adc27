import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Opening connections.
@Suite(.onLoop)
struct OpeningTests {
    @Test @BusActor
    func open_runningBus_isUsable() async throws {
        let bus = try await PrivateBus()
        let connection = try await Connection.open(bus.address, timeout: Patience.limit)
        defer { connection.close() }
        #expect(connection.uniqueName.hasPrefix(":"))
        #expect(try await connection.owner(of: connection.uniqueName) == connection.uniqueName)
        #expect(try connection.requestName("org.example.Opened") == .owner)
    }

    @Test @BusActor
    func open_busDies_fails() async throws {
        let bus = try await PrivateBus()
        bus.pause()
        defer { bus.resume() }
        let opening = Task.immediate { @BusActor in try await Connection.open(bus.address, timeout: Patience.limit) }
        try await bus.kill()
        await #expect(throws: BusError.self) { _ = try await opening.value }
    }

    @Test @BusActor
    func followOwner_changes_areReportedOnce() async throws {
        let bus = try await PrivateBus()
        let connection = try bus.connect()
        defer { connection.close() }
        let owners = Recorder<String?>()
        connection.followOwner(of: "org.example.Followed") { owners.record($0) }
        _ = try await owners.first("nobody") { $0 == nil }
        let owner = try bus.connect()
        _ = try owner.requestName("org.example.Followed")
        _ = try await owners.first("the owner") { [name = owner.uniqueName] in $0 == name }
        owner.close()
        _ = try await owners.first("the end", after: 2) { $0 == nil }
        #expect(owners.all == [nil, owner.uniqueName, nil])
    }

    @Test @BusActor
    func followOwner_ownedName_reportsOwner() async throws {
        let bus = try await PrivateBus()
        let (owner, connection) = (try bus.connect(), try bus.connect())
        defer {
            owner.close()
            connection.close()
        }
        _ = try owner.requestName("org.example.Followed")
        let owners = Recorder<String?>()
        connection.followOwner(of: "org.example.Followed") { owners.record($0) }
        #expect(try await owners.first("the owner") == owner.uniqueName)
    }

    @Test("a bus that does not answer at first is asked again for the owner") @BusActor
    func followOwner_silentBus_isAskedAgain() async throws {
        let bus = try await PrivateBus()
        let (owner, connection) = (try bus.connect(), try bus.connect())
        defer {
            owner.close()
            connection.close()
        }
        _ = try owner.requestName("org.example.Followed")
        bus.pause()
        defer { bus.resume() }
        let owners = Recorder<String?>()
        connection.followOwner(of: "org.example.Followed", timeout: .milliseconds(100)) { owners.record($0) }
        #expect(try await owners.first("nobody") == nil)
        bus.resume()
        #expect(try await owners.first("the owner", after: 1) == owner.uniqueName)
    }

    @Test @BusActor
    func followOwner_unsubscribed_reportsNothing() async throws {
        let bus = try await PrivateBus()
        let connection = try bus.connect()
        defer { connection.close() }
        let owners = Recorder<String?>()
        let subscription = connection.followOwner(of: "org.example.Followed") { owners.record($0) }
        connection.unsubscribe(subscription)
        _ = try connection.requestName("org.example.Followed")
        _ = try await connection.owner(of: "org.example.Followed")
        #expect(owners.all.isEmpty)
    }
}
