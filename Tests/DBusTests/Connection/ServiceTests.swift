import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Programs that serve this process under well-known names, and those that may not.
@Suite(.onLoop)
struct ServiceTests {
    private static let name = "org.example.Served"

    /// A connection that some programs may not serve, and others that can take the name from each other.
    @BusActor
    private func run(_ body: (_ connection: Connection, _ others: [Connection]) async throws -> Void) async throws {
        let bus = try await PrivateBus()
        let connections = try (0..<3).map { _ in try bus.connect() }
        defer { connections.forEach { $0.close() } }
        try await body(connections[0], Array(connections[1...]))
    }

    @BusActor
    private func take(_ connection: Connection) throws {
        #expect(try connection.requestName(Self.name, options: [.allowReplacement, .replaceExisting]) == .owner)
    }

    @Test @BusActor
    func service_refusedOwner_isDenied() async throws {
        try await run { connection, others in
            connection.objectionToService = { [refused = others[0].uniqueName] in $0 == refused ? "no" : nil }
            #expect(try await connection.service(Self.name) == nil)
            try take(others[0])
            let error = await #expect(throws: BusError.self) { _ = try await connection.service(Self.name) }
            #expect(error?.name == .accessDenied)
            #expect(await !connection.hasService(Self.name))
            try take(others[1])
            #expect(try await connection.service(Self.name) == others[1].uniqueName)
            #expect(await connection.hasService(Self.name))
        }
    }

    @Test @BusActor
    func followService_refusedOwner_isNone() async throws {
        try await run { connection, others in
            connection.objectionToService = { [refused = others[0].uniqueName] in $0 == refused ? "no" : nil }
            try take(others[0])
            let services = Recorder<String?>()
            connection.followService(Self.name) { services.record($0) }
            #expect(try await services.first("the first") == nil)
            try take(others[1])
            _ = try await services.first("the other", after: 1)
            try take(others[0])
            _ = try await services.first("the end", after: 2)
            #expect(services.all == [nil, others[1].uniqueName, nil])
        }
    }

    @Test("an owner that is examined when another takes the name is never told") @BusActor
    func followService_replacedDuringItsExamination_isNotTold() async throws {
        try await run { connection, others in
            let (begun, hold) = (Recorder<String>(), Promise<Void>())
            connection.objectionToService = { [first = others[0].uniqueName] owner in
                begun.record(owner)
                if owner == first { await hold.wait() }
                return nil
            }
            try take(others[0])
            let services = Recorder<String?>()
            connection.followService(Self.name) { services.record($0) }
            _ = try await begun.first("the examination")
            try take(others[1])
            #expect(try await services.first("the other") == others[1].uniqueName)
            hold.fulfill()
            await BusActor.loop.wait(for: .zero)
            try take(others[0])
            _ = try await services.first("the first", after: 2)
            #expect(services.all == [others[1].uniqueName, nil, others[0].uniqueName])
        }
    }
}
