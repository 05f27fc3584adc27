import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct CallTests {
    @Test
    @BusActor
    func call_timeout_fails() async throws {
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
    func call_noTimeout_waits() async throws {
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
    func call_unownedName_fails() async throws {
        let server = try await TestServer.start()
        await #expect(throws: BusError(.serviceUnknown, "")) {
            try await server.client.call(.call(to: "org.example.Nobody", .root, "org.example.Test", "Method"))
        }
    }

    @Test
    @BusActor
    func call_calleeVanishes_fails() async throws {
        let server = try await TestServer.start()
        let lost = Task { try await server.call("Hold", "lost") }
        _ = try await server.object.held.first("the call")
        server.connection.close()
        await #expect(throws: BusError(.noReply, "")) { try await lost.value }
        server.object.release()
    }

    @Test
    @BusActor
    func calls_concurrent_areAllAnswered() async throws {
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
    func call_self_isAnswered() async throws {
        let server = try await TestServer.start()
        let reply = try await server.connection.call(server.message("Sender"))
        #expect(try reply.read(String.self) == server.connection.uniqueName)
    }

    @Test
    @BusActor
    func send_messageIsWipedAtOnce_arrives() async throws {
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
            server.connection.send(message)
            message.wipeByteArrays()
            return message
        }
        for number in 0..<4 {
            #expect(try await heard.first("secret \(number)", after: number) == secret)
        }
        // The reply shows that the loop has turned since the message was sent.
        try await server.call("Record", "done")
        for message in sent {
            #expect(try message.read(ByteArray.self).bytes.allSatisfy { $0 == 0 })
        }
    }

    @Test
    @BusActor
    func error_ofPeer_hasNameAndMessage() async throws {
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

@Suite(.onLoop)
struct OverloadTests {
    @Test
    @BusActor
    func calls_fasterThanReplies_areHeldBack() async throws {
        let server = try await TestServer.start()
        let payload = ByteArray([UInt8](repeating: 1, count: 1 << 20))
        let received = Recorder<Void>()
        server.client.subscribe(to: SignalMatch(interface: TestObject.interfaceName, member: "Changed")) { _ in
            received.record(())
        }
        var most = 0
        server.object.action = {
            most = max(most, server.connection.bytesToSend)
            let client = server.client.uniqueName
            let signal = Message.signal(TestObject.path, TestObject.interfaceName, "Changed", to: client)
            signal.append(payload)
            server.connection.send(signal)
        }
        for _ in 0..<40 {
            server.client.send(server.message("Act"))
        }
        try await server.call("Act")
        #expect(most < 17 << 20)
        // The last reply arrives before the last signal.
        try await server.call("Sender")
        #expect(received.count == 41)
        #expect(server.connection.bytesToSend == 0)
    }

    /// The client is another process, so that only the socket of the server wakes the loop.
    @Test
    @BusActor
    func calls_behindBlockedReply_areAnswered() async throws {
        let server = try await TestServer.start()
        let result = try await RawCaller(server.bus).run(
            """
            for _ in range(8):
                bus.send_message(message('\(TestObject.interfaceName)', 'Reveal', [dbus.UInt32(4 << 20)]))
            call('\(TestObject.interfaceName)', 'Sender')
            """
        )
        #expect(result.succeeded, "\(result.errors)")
    }
}
