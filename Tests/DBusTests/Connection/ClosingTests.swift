import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct ClosingTests {
    @Test
    @BusActor
    func close_pendingCalls_fail() async throws {
        let server = try await TestServer.start()
        let lost = Task { try await server.call("Hold", "lost") }
        _ = try await server.object.held.first("the call")
        server.client.close()
        await #expect(throws: BusError(.disconnected, "")) { try await lost.value }
    }

    @Test
    @BusActor
    func close_callsBehindFullQueue_fail() async throws {
        let server = try await TestServer.start()
        server.bus.pause()
        defer { server.bus.resume() }
        server.client.emit(.root, "org.example.Filling", "Signal") { writer in
            ByteArray([UInt8](repeating: 1, count: 4 << 20)).write(to: &writer)
        }
        let lost = (0..<3).map { _ in Task.immediate { @BusActor in try await server.call("Sender") } }
        let waiting = Task.immediate { @BusActor in await server.client.waitForRoom() }
        server.client.close(flushing: false)
        for call in lost {
            await #expect(throws: BusError(.disconnected, "")) { try await call.value }
        }
        await waiting.value
    }

    @Test
    @BusActor
    func close_inHandler_failsLaterCalls() async throws {
        let server = try await TestServer.start()
        let calls = Recorder<Task<BusError?, Never>>()
        server.object.action = {
            let connection = server.connection
            connection.close()
            calls.record(
                Task.immediate { @BusActor in
                    do throws(BusError) {
                        _ = try await connection.owner(of: TestServer.name)
                        return nil
                    } catch {
                        return error
                    }
                }
            )
        }
        try await server.call("Act")
        #expect(try await calls.first("the call").value == BusError(.disconnected, ""))
    }

    @Test
    @BusActor
    func close_handlersThatHoldTheConnection_areReleased() async throws {
        let bus = try await PrivateBus()
        weak var released: Connection?
        do {
            let connection = try bus.connect()
            released = connection
            connection.subscribe(to: .nameLost) { _ in connection.close() }
            connection.close()
        }
        #expect(released == nil)
    }

    @Test
    @BusActor
    func close_laterCalls_failAtOnce() async throws {
        let server = try await TestServer.start()
        server.client.close()
        await #expect(throws: BusError(.disconnected, "")) { try await server.call("Sender") }
        #expect(throws: BusError(.disconnected, "")) { _ = try server.client.requestName("org.example.Late") }
    }

    @Test
    @BusActor
    func close_laterOperations_doNothing() async throws {
        let server = try await TestServer.start()
        let id = server.client.subscribe(to: .nameVanished) { _ in }
        server.client.close()
        server.client.close()
        server.client.unsubscribe(id)
        server.client.subscribe(to: .nameLost) { _ in }
        server.client.send(.signal(.root, "org.example.Test", "Signal"))
    }

    @Test
    @BusActor
    func close_queuedMessages_areSentFirst() async throws {
        let server = try await TestServer.start()
        for number in 0..<1000 {
            let message = server.message("Record")
            message.append("\(number)")
            server.client.send(message)
        }
        server.client.close()
        _ = try await server.object.recorded.first("the last message") { $0 == "999" }
        #expect(server.object.recorded.count == 1000)
    }

    @Test
    @BusActor
    func close_busHangs_returnsAfterBoundedTime() async throws {
        let server = try await TestServer.start()
        server.bus.pause()
        let bytes = ByteArray([UInt8](repeating: 1, count: 4 << 20))
        server.client.emit(.root, "org.example.Filling", "Signal") { bytes.write(to: &$0) }
        #expect(server.client.bytesToSend > 1 << 20)
        server.client.close(within: .milliseconds(1))
        #expect(!server.client.isOpen)
        server.bus.resume()
        try await server.bus.kill()
    }

    @Test
    @BusActor
    func close_inHandler_isCompletedAfterIt() async throws {
        let server = try await TestServer.start()
        server.object.action = { server.connection.close() }
        try await server.call("Act")
        await #expect(throws: BusError(.serviceUnknown, "")) { try await server.call("Act") }
    }

    @Test
    @BusActor
    func close_otherConnectionInHandler_isSafe() async throws {
        let server = try await TestServer.start()
        let others = try (0..<8).map { _ in try server.bus.connect() }
        server.object.action = {
            for other in others {
                other.close()
            }
        }
        try await server.call("Act")
        try await server.call("Record", "still here")
        #expect(server.object.recorded.all == ["still here"])
    }

    @Test
    @BusActor
    func close_own_doesNotReportDisconnect() async throws {
        let server = try await TestServer.start()
        let disconnections = Recorder<Void>()
        server.client.onDisconnect = { disconnections.record(()) }
        server.client.close()
        await turnOfTheLoop()
        #expect(disconnections.count == 0)
    }

    @Test
    @BusActor
    func busDies_allConnections_reportDisconnect() async throws {
        let server = try await TestServer.start()
        let disconnections = Recorder<String>()
        server.client.onDisconnect = { disconnections.record("client") }
        server.connection.onDisconnect = { disconnections.record("server") }
        let lost = Task { try await server.call("Hold", "lost") }
        _ = try await server.object.held.first("the call")
        try await server.bus.kill()
        await #expect(throws: BusError(.disconnected, "")) { try await lost.value }
        await #expect(throws: BusError(.disconnected, "")) { try await server.call("Sender") }
        _ = try await disconnections.first("the client's") { $0 == "client" }
        _ = try await disconnections.first("the server's") { $0 == "server" }
        #expect(disconnections.count == 2)
        server.object.release()
    }

    @Test
    @BusActor
    func busDies_beforeHandlerIsSet_reportsDisconnect() async throws {
        let server = try await TestServer.start()
        try await server.bus.kill()
        await #expect(throws: BusError(.disconnected, "")) { try await server.call("Sender") }
        let disconnections = Recorder<Void>()
        server.client.onDisconnect = { disconnections.record(()) }
        _ = try await disconnections.first("the disconnection")
    }

    @Test
    @BusActor
    func busDies_closeInDisconnectHandler_isSafe() async throws {
        let server = try await TestServer.start()
        let disconnections = Recorder<Void>()
        server.client.onDisconnect = {
            server.client.close()
            disconnections.record(())
        }
        try await server.bus.kill()
        _ = try await disconnections.first("the disconnection")
        await #expect(throws: BusError(.disconnected, "")) { try await server.call("Sender") }
    }

    @Test
    @BusActor
    func busDies_largeQueue_reportsDisconnect() async throws {
        let server = try await TestServer.start()
        let disconnections = Recorder<Void>()
        server.client.onDisconnect = { disconnections.record(()) }
        server.bus.pause()
        defer { server.bus.resume() }
        for _ in 0..<8 {
            let message = server.message("HoldBytes")
            message.append(ByteArray([UInt8](repeating: 1, count: 1 << 20)))
            server.client.send(message)
        }
        await turnOfTheLoop()
        try await server.bus.kill()
        _ = try await disconnections.first("the disconnection")
        server.client.close()
    }

    @Test
    @BusActor
    func open_noBusAtTheAddress_fails() async {
        #expect(throws: BusError.self) { _ = try Connection(.address("unix:path=/nonexistent/bus")) }
        #expect(throws: BusError.self) { _ = try Connection(.address("no address")) }
    }

    /// Lets the loop poll and handle its descriptors at least once.
    @BusActor
    private func turnOfTheLoop() async {
        for _ in 0..<2 {
            await withCheckedContinuation { continuation in
                BusActor.loop.schedule(after: .milliseconds(1)) { continuation.resume() }
            }
        }
    }
}
