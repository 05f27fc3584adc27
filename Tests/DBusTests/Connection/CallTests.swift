import DBus
import TestSupport
import Testing

@Suite(.onLoop)
struct CallTests {
    @Test
    @BusActor
    func call_noAnswerInTime_fails() async throws {
        let server = try await TestServer.start()
        let message = server.message("Hold")
        message.append("never")
        await #expect(throws: BusError(.noReply, "")) {
            try await server.client.call(message, timeout: .milliseconds(50))
        }
        server.object.release()
        try await server.call("Record", "later")
    }

    @Test
    @BusActor
    func call_withoutLimit_waits() async throws {
        let server = try await TestServer.start()
        let message = server.message("Hold")
        message.append("long")
        let answer = Task { try await server.client.call(message, timeout: nil).read(String.self) }
        _ = try await server.object.held.first("the call")
        server.object.release()
        #expect(try await answer.value == "long")
    }

    @Test
    @BusActor
    func call_nobodyHasTheName_fails() async throws {
        let server = try await TestServer.start()
        await #expect(throws: BusError(.serviceUnknown, "")) {
            try await server.client.call(.call(to: "org.example.Nobody", .root, "org.example.Test", "Method"))
        }
    }

    @Test
    @BusActor
    func call_calleeThatVanishes_fails() async throws {
        let server = try await TestServer.start()
        let lost = Task { try await server.call("Hold", "lost") }
        _ = try await server.object.held.first("the call")
        server.connection.close()
        await #expect(throws: BusError(.noReply, "")) { try await lost.value }
        server.object.release()
    }

    @Test
    @BusActor
    func calls_manyAtOnce_areAnsweredEach() async throws {
        let server = try await TestServer.start()
        let calls = (0..<500).map { number in
            Task {
                try await server.call(TestObject.echoName(of: String.self), of: "org.example.Echo", "\(number)")
                    .read(String.self)
            }
        }
        for (number, call) in calls.enumerated() {
            #expect(try await call.value == "\(number)")
        }
    }

    @Test
    @BusActor
    func call_itself_isAnswered() async throws {
        let server = try await TestServer.start()
        let reply = try await server.connection.call(server.message("Sender"))
        #expect(try reply.read(String.self) == server.connection.uniqueName)
    }

    @Test
    @BusActor
    func sendWiping_secretToSomebody_arrivesAndIsGoneHere() async throws {
        let server = try await TestServer.start()
        let heard = Recorder<ByteArray>()
        let match = SignalMatch(interface: "org.example.Test", member: "Secret")
        server.client.subscribe(to: match) { message in
            if let bytes = try? message.read(ByteArray.self) { heard.record(bytes) }
        }
        let secret = ByteArray([UInt8](repeating: 7, count: 1 << 20))
        let sent = (0..<4).map { _ in
            let message = Message.signal(.root, "org.example.Test", "Secret", to: server.client.uniqueName)
            message.append(secret)
            server.connection.sendWiping(message)
            return message
        }
        for number in 0..<4 {
            #expect(try await heard.first("secret \(number)", after: number) == secret)
        }
        // An answer means that the loop has turned since the last message has left.
        try await server.call("Record", "done")
        for message in sent {
            #expect(try message.read(ByteArray.self).bytes.allSatisfy { $0 == 0 })
        }
    }

    @Test
    @BusActor
    func error_fromThePeer_hasNameAndText() async throws {
        let server = try await TestServer.start()
        do {
            try await server.call("Fail")
            Issue.record("the call has succeeded")
        } catch {
            #expect(error.description == "org.freedesktop.DBus.Error.AccessDenied: as you wish")
            #expect(error == BusError(.accessDenied, "another text"))
            #expect(error != BusError(.failed, "as you wish"))
        }
    }
}
