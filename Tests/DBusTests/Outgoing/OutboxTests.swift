import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The order and the delivery of messages sent by every means.
@Suite(.onLoop)
struct OutboxTests {
    private static let interface = "org.example.Outbox"

    @Test
    @BusActor
    func messages_ofAllKindsInOneTurn_keepOrder() async throws {
        let server = try await TestServer.start()
        for number in stride(from: 0, to: 300, by: 3) {
            record(number, on: server)
            async let answered: Message = server.call("Record", "\(number + 1)")
            record(number + 2, on: server)
            _ = try await answered
        }
        try await server.call("Record", "300")
        #expect(server.object.recorded.all.compactMap { Int($0) }.sorted() == Array(0...300))
        let sent = server.object.recorded.all.compactMap { Int($0) }.filter { $0 % 3 == 0 }
        #expect(sent == sent.sorted())
    }

    @Test
    @BusActor
    func message_sentByHandlerOfOtherConnection_leavesInSameTurn() async throws {
        let server = try await TestServer.start()
        let relays = try (0..<2).map { _ in try server.bus.connect() }
        defer { relays.forEach { $0.close() } }
        let heard = Recorder<String>()
        // One of the two receives before its turn to send, the other after.
        for (from, to) in [(relays[0], relays[1]), (relays[1], relays[0])] {
            from.subscribe(to: SignalMatch(interface: Self.interface, member: "Ask")) { _ in
                to.emit(.root, Self.interface, "Relay") { to.uniqueName.write(to: &$0) }
            }
            _ = try await from.owner(of: from.uniqueName)
        }
        server.client.subscribe(to: SignalMatch(interface: Self.interface, member: "Relay")) { message in
            heard.record((try? message.read(String.self)) ?? "")
        }
        try await server.call("Sender")
        server.connection.emit(.root, Self.interface, "Ask") { _ in }
        for name in relays.map(\.uniqueName) {
            _ = try await heard.first("the relay of \(name)") { $0 == name }
        }
    }

    @Test
    @BusActor
    func fullSocket_messages_arriveInOrder() async throws {
        let server = try await TestServer.start()
        let heard = Recorder<UInt64>()
        server.client.subscribe(to: SignalMatch(interface: Self.interface)) { message in
            if let (number, _) = try? message.read(UInt64.self, ByteArray.self) { heard.record(number) }
        }
        try await server.call("Sender")
        server.bus.pause()
        defer { server.bus.resume() }
        // Sizes around the limit of the kernel for one write.
        for number in 0..<400 as Range<UInt64> {
            let bytes = ByteArray([UInt8](repeating: 1, count: Int(number * 211 % 70_000)))
            server.connection.emit(.root, Self.interface, "Signal") { writer in
                number.write(to: &writer)
                bytes.write(to: &writer)
            }
        }
        #expect(server.connection.bytesToSend > 1 << 20)
        server.bus.resume()
        for number in 0..<400 as Range<UInt64> {
            #expect(try await heard.first("signal \(number)", after: Int(number)) == number)
        }
        try await server.call("Sender")
        #expect(server.connection.bytesToSend == 0)
    }

    @Test("Behind a full socket, messages leave in turn between receivers, and in order on each side of a broadcast")
    @BusActor
    func fullSocket_receivers_takeTurns() async throws {
        let server = try await TestServer.start()
        let heard = Recorder<UInt32>()
        server.client.subscribe(to: SignalMatch(interface: Self.interface)) { message in
            if let (number, _) = try? message.read(UInt32.self, ByteArray.self) { heard.record(number) }
        }
        // Two names of one connection, which receives in the order of sending.
        let (name, other) = (server.client.uniqueName, "org.example.Other")
        _ = try server.client.requestName(other)
        try await server.call("Sender")
        let emit = { (number: UInt32, receiver: String?, size: Int) in
            server.connection.emit(.root, Self.interface, "Signal", to: receiver) { writer in
                number.write(to: &writer)
                ByteArray([UInt8](repeating: 1, count: size)).write(to: &writer)
            }
        }
        server.bus.pause()
        defer { server.bus.resume() }
        for number in 0..<50 as Range<UInt32> { emit(number, name, 64 << 10) }
        for number in 50..<53 as Range<UInt32> { emit(number, other, 1) }
        emit(53, nil, 1)
        emit(54, other, 1)
        server.bus.resume()
        _ = try await heard.first("the last signal") { $0 == 54 }
        let order = heard.all
        #expect(order.filter { $0 < 50 } == Array(0..<50))
        #expect(order.filter { $0 >= 50 } == Array(50..<55))
        #expect(order.suffix(2) == [53, 54])
        // Some had left before the socket was full.
        #expect(try #require(order.firstIndex(of: 52)) < 20)
    }

    @Test
    @BusActor
    func largeMessages_betweenSmallOnes_arriveWholeAndInOrder() async throws {
        let server = try await TestServer.start()
        let heard = Recorder<[Int]>()
        server.client.subscribe(to: SignalMatch(interface: Self.interface)) { message in
            if let (number, bytes) = try? message.read(UInt32.self, ByteArray.self) {
                heard.record([Int(number), bytes.bytes.count, bytes.bytes.count { $0 == UInt8(number) }])
            }
        }
        try await server.call("Sender")
        // The kernel's buffer is longer for the large ones.
        let sizes = (0..<60).map { number in number % 3 == 0 ? 600_000 : number * 101 }
        for (number, size) in sizes.enumerated() {
            server.connection.emit(.root, Self.interface, "Signal") { writer in
                UInt32(number).write(to: &writer)
                ByteArray([UInt8](repeating: UInt8(number), count: size)).write(to: &writer)
            }
        }
        for (number, size) in sizes.enumerated() {
            #expect(try await heard.first("signal \(number)", after: number) == [number, size, size])
        }
    }

    @Test
    @BusActor
    func fullSocket_callsAndSubscriptions_keepOrder() async throws {
        let server = try await TestServer.start()
        let heard = Recorder<String>()
        server.bus.pause()
        defer { server.bus.resume() }
        fill(server.client)
        let owner = Task { try await server.client.owner(of: TestServer.name) }
        let subscription = server.client.subscribe(to: SignalMatch(interface: Self.interface)) { message in
            heard.record(message.member ?? "")
        }
        let answer = Task { try await server.call("Sender").read(String.self) }
        server.bus.resume()
        #expect(try await owner.value == server.connection.uniqueName)
        #expect(try await answer.value == server.client.uniqueName)
        server.connection.emit(.root, Self.interface, "Signal") { _ in }
        #expect(try await heard.first("the signal") == "Signal")
        server.client.unsubscribe(subscription)
    }

    @Test
    @BusActor
    func fullSocket_server_repliesOnceThereIsRoom() async throws {
        let server = try await TestServer.start()
        let calls = (0..<50).map { number in Task { try await server.call("Hold", "\(number)") } }
        for number in 0..<50 { _ = try await server.object.held.first("call \(number)", after: number) }
        server.bus.pause()
        defer { server.bus.resume() }
        fill(server.connection)
        server.object.release()
        server.bus.resume()
        for (number, call) in calls.enumerated() {
            #expect(try await call.value.read(String.self) == "\(number)")
        }
    }

    @Test
    @BusActor
    func busDies_fullSocket_isReportedAndQueueDropped() async throws {
        let server = try await TestServer.start()
        let disconnections = Recorder<Void>()
        server.client.onDisconnect = { disconnections.record(()) }
        server.bus.pause()
        defer { server.bus.resume() }
        fill(server.client)
        let lost = Task { try await server.call("Sender") }
        let alsoLost = Task { try await server.client.owner(of: TestServer.name) }
        try await server.bus.kill()
        await #expect(throws: BusError(.disconnected, "")) { try await lost.value }
        await #expect(throws: BusError(.disconnected, "")) { _ = try await alsoLost.value }
        _ = try await disconnections.first("the disconnection")
        server.client.send(.signal(.root, Self.interface, "Late"))
        server.client.close()
    }

    @Test
    @BusActor
    func close_fullSocket_sendsQueueFirst() async throws {
        let server = try await TestServer.start()
        for number in 0..<40 {
            let message = server.message("Record")
            message.append(String(repeating: "\(number) ", count: 20_000))
            server.client.send(message)
        }
        server.client.close()
        for number in 0..<40 {
            #expect(try await server.object.recorded.first("call \(number)", after: number).hasPrefix("\(number) "))
        }
    }

    @BusActor
    private func record(_ number: Int, on server: TestServer) {
        let message = server.message("Record")
        message.append("\(number)")
        server.client.send(message)
    }

    /// Sends more than the socket buffer holds.
    @BusActor
    private func fill(_ connection: Connection) {
        let bytes = ByteArray([UInt8](repeating: 1, count: 100_000))
        for _ in 0..<20 {
            connection.emit(.root, "org.example.Filling", "Signal") { bytes.write(to: &$0) }
        }
        #expect(connection.bytesToSend > 1 << 20)
    }
}
