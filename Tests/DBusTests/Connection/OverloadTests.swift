import DBus
import TestSupport
import Testing

@Suite(.onLoop)
struct OverloadTests {
    @Test
    @BusActor
    func calls_fasterThanTheirAnswersLeave_wait() async throws {
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
        for _ in 0..<200 {
            server.client.send(server.message("Act"))
        }
        try await server.call("Act")
        #expect(most < 17 << 20)
        // The last answer comes before the last signal.
        try await server.call("Sender")
        #expect(received.count == 201)
        #expect(server.connection.bytesToSend == 0)
    }

    /// The client is another process, so that only the server's own socket wakes the loop.
    @Test
    @BusActor
    func calls_queuedBehindABlockedAnswer_areAnswered() async throws {
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
