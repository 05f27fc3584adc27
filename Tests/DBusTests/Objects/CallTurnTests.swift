import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The order in which the calls of several programs are handled.
@Suite(.onLoop)
struct CallTurnTests {
    private static let many = 1000

    /// Only behind a slow call others are looked for: behind quick ones nobody waits for long.
    private static func slowly() {
        let end = ContinuousClock.now + .milliseconds(1)
        while ContinuousClock.now < end {}
    }

    /// A call so long that others are looked for behind it.
    private func longCall(of server: TestServer) -> Message {
        let message = server.message(TestObject.echoName(of: [String].self), of: "org.example.Echo")
        message.append((0..<1000).map { "an element with the number \($0)" })
        return message
    }

    @Test
    @BusActor
    func callBehindManyOfAnother_isHandledEarly() async throws {
        let server = try await TestServer.start()
        let (busy, other) = (try RawClient(server.bus.address), try RawClient(server.bus.address))
        // The socket has room for all, so that the order does not depend on when the bus writes the rest.
        let calls = 120
        try await server.whileBusy {
            server.object.action = Self.slowly
            busy.send(server.message("Act"))
            for number in 0..<calls { busy.send(server.recording("busy \(number)")) }
            try busy.waitForBus()
            for number in 0..<3 { other.send(server.recording("other \(number)")) }
            try other.waitForBus()
        }
        _ = try await server.object.recorded.first("the last call") { $0 == "busy \(calls - 1)" }
        let recorded = server.object.recorded.all
        #expect(recorded.filter { $0.hasPrefix("busy") } == (0..<calls).map { "busy \($0)" })
        #expect(recorded.filter { $0.hasPrefix("other") } == (0..<3).map { "other \($0)" })
        let place = try #require(recorded.firstIndex(of: "other 2"))
        #expect(place < calls / 2)
    }

    @Test
    @BusActor
    func callBehindLongCallsOfAnother_isHandledEarly() async throws {
        let server = try await TestServer.start()
        let (busy, other) = (try RawClient(server.bus.address), try RawClient(server.bus.address))
        let calls = 200
        try await server.whileBusy {
            for number in 0..<calls {
                busy.send(longCall(of: server))
                busy.send(server.recording("busy \(number)"))
            }
            try busy.waitForBus()
            other.send(server.recording("other"))
            try other.waitForBus()
        }
        _ = try await server.object.recorded.first("the last call") { $0 == "busy \(calls - 1)" }
        let place = try #require(server.object.recorded.all.firstIndex(of: "other"))
        #expect(place < calls / 2)
    }

    @Test
    @BusActor
    func callBehindThoseOfManyConnectionsOfAProgram_isHandledEarly() async throws {
        let server = try await TestServer.start()
        let busy = try (0..<30).map { _ in try RawClient(server.bus.address) }
        let other = try RawClient(server.bus.address)
        try await server.whileBusy {
            for client in busy { server.peers[client.uniqueName].program = server }
            server.object.action = Self.slowly
            busy[0].send(server.message("Act"))
            for (number, client) in busy.enumerated() {
                for call in 0..<4 { client.send(server.recording("busy \(number) \(call)")) }
                try client.waitForBus()
            }
            for number in 0..<4 { other.send(server.recording("other \(number)")) }
            try other.waitForBus()
        }
        _ = try await server.object.recorded.first("the last call") { $0 == "busy 29 3" }
        let recorded = server.object.recorded.all
        for number in busy.indices {
            #expect(recorded.filter { $0.hasPrefix("busy \(number) ") } == (0..<4).map { "busy \(number) \($0)" })
        }
        let place = try #require(recorded.firstIndex(of: "other 3"))
        #expect(place < 60)
    }

    @Test
    @BusActor
    func ping_comesBehindTheCallersEarlierCalls() async throws {
        let server = try await TestServer.start()
        let busy = try RawClient(server.bus.address)
        let ping = server.message("Ping", of: StandardInterface.peer)
        try await server.whileBusy {
            for number in 0..<Self.many {
                let message = server.recording("\(number)")
                message.expectNoReply()
                busy.send(message)
            }
            busy.send(ping)
            try busy.waitForBus()
        }
        #expect(await busy.replies(1).compactMap(\.error) == [])
        #expect(server.object.recorded.count == Self.many)
    }

    @Test
    @BusActor
    func callsOfAProgramThatHasLeft_areHandledBeforeItsEnd() async throws {
        let server = try await TestServer.start()
        let (object, connection) = (server.object, server.connection)
        let busy = try RawClient(server.bus.address)
        let name = busy.uniqueName
        connection.onNameVanished { [unowned connection] vanished in
            guard vanished == name else { return }
            connection.afterCalls(of: vanished, dropping: { $0.member == "Act" }) { object.recorded.record("end") }
        }
        _ = try await connection.owner(of: TestServer.name)
        try await server.whileBusy {
            for number in 0..<Self.many { busy.send(server.recording("\(number)")) }
            try busy.waitForBus()
            busy.close()
        }
        _ = try await object.recorded.first("the end") { $0 == "end" }
        #expect(object.recorded.all == (0..<Self.many).map(String.init) + ["end"])
    }

    @Test
    @BusActor
    func questionsOfAProgramThatHasLeft_areNotHandled() async throws {
        let server = try await TestServer.start()
        let (object, connection) = (server.object, server.connection)
        let (busy, other) = (try RawClient(server.bus.address), try RawClient(server.bus.address))
        let name = busy.uniqueName
        connection.onNameVanished { [unowned connection] vanished in
            guard vanished == name else { return }
            connection.afterCalls(of: vanished, dropping: { $0.member == "Act" }) { object.recorded.record("end") }
        }
        _ = try await connection.owner(of: TestServer.name)
        let pairs = 25
        try await server.whileBusy {
            object.action = {
                Self.slowly()
                object.recorded.record("question")
            }
            busy.send(server.message("Act"))
            for number in 0..<pairs {
                busy.send(server.message("Act"))
                busy.send(server.recording("\(number)"))
            }
            try busy.waitForBus()
            busy.close()
            let hasOwner = Message.call(to: SignalMatch.bus, .root, SignalMatch.bus, "NameHasOwner")
            hasOwner.append(name)
            while try other.call(hasOwner).read(Bool.self) {}
        }
        _ = try await object.recorded.first("the end") { $0 == "end" }
        let recorded = object.recorded.all
        #expect(recorded.filter { $0 != "question" } == (0..<pairs).map(String.init) + ["end"])
        #expect(recorded.filter { $0 == "question" }.count < pairs)
    }

    @Test
    @BusActor
    func programWithUnsentAnswers_waits_othersAreAnswered() async throws {
        let server = try await TestServer.start()
        let (greedy, other) = (try RawClient(server.bus.address), try RawClient(server.bus.address))
        let calls = 100
        try await server.whileBusy {
            for _ in 0..<calls {
                let message = server.message("Reveal")
                message.append(UInt32(256 << 10))
                greedy.send(message)
            }
            try greedy.waitForBus()
            other.send(server.recording("other"))
            try other.waitForBus()
            server.bus.pause()
        }
        defer { server.bus.resume() }
        _ = try await server.object.recorded.first("the other call") { $0 == "other" }
        #expect(server.connection.bytesToSend < 1 << 20)
        server.bus.resume()
        #expect(await greedy.replies(calls).compactMap(\.error) == [])
    }

    @Test
    @BusActor
    func callsOfTooManyBytes_areRefused_othersAreHandled() async throws {
        let server = try await TestServer.start()
        server.connection.waitingCallBytes = 50 << 10
        let (greedy, other) = (try RawClient(server.bus.address), try RawClient(server.bus.address))
        let calls = 100
        try await server.whileBusy {
            for _ in 0..<calls { greedy.send(longCall(of: server)) }
            try greedy.waitForBus()
            other.send(server.recording("other"))
            try other.waitForBus()
        }
        _ = try await server.object.recorded.first("the other call") { $0 == "other" }
        let errors = await greedy.replies(calls).map(\.error?.name)
        #expect(Set(errors) == [nil, .limitsExceeded])
        #expect(errors.count == calls)
    }

    @Test
    @BusActor
    func callsOfTooManyBytes_onManyConnections_areThoseOfTheirProgram() async throws {
        let server = try await TestServer.start()
        let greedy = try (0..<10).map { _ in try RawClient(server.bus.address) }
        let other = try RawClient(server.bus.address)
        // Each connection of the program has less than the other.
        server.connection.waitingCallBytes = 5 * longCall(of: server).argumentSize
        try await server.whileBusy {
            for client in greedy { server.peers[client.uniqueName].program = server }
            for client in greedy {
                client.send(longCall(of: server))
                try client.waitForBus()
            }
            for _ in 0..<2 { other.send(longCall(of: server)) }
            try other.waitForBus()
        }
        let refusals = await other.replies(2).compactMap(\.error)
        #expect(refusals == [])
        var errors: [ErrorName?] = []
        for client in greedy { errors += await client.replies(1).map(\.error?.name) }
        #expect(Set(errors) == [nil, .limitsExceeded])
    }
}
