import CKeychaindDBus
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Replies of other programs than were called, with the right serial.
@Suite(.onLoop)
struct ForgedReplyTests {
    private func forgedReply(to serial: UInt32, of caller: String) throws -> Message {
        let message = Message(owning: try #require(dbus_message_new(DBUS_MESSAGE_TYPE_METHOD_RETURN)))
        dbus_message_set_reply_serial(message.pointer, serial)
        message.setDestination(caller)
        message.append("forged")
        return message
    }

    /// Makes a call that another program replies to before the server does.
    @BusActor
    private func callWithForgedReply(of server: TestServer, timeout: Duration) async throws -> Task<String, any Error> {
        let forger = try RawClient(server.bus.address)
        let name = server.connection.uniqueName
        let message = Message.call(to: name, TestObject.path, TestObject.interfaceName, "Hold")
        message.append("right")
        let answer = Task { try await server.client.call(message, timeout: timeout).read(String.self) }
        _ = try await server.object.held.first("the call")
        let serial = dbus_message_get_serial(message.pointer)
        forger.send(try forgedReply(to: serial, of: server.client.uniqueName))
        try forger.waitForBus()
        return answer
    }

    @Test("The reply of another program does not count")
    @BusActor
    func reply_ofAnother_doesNotCount() async throws {
        let server = try await TestServer.start()
        let answer = try await callWithForgedReply(of: server, timeout: Patience.limit)
        server.object.release()
        #expect(try await answer.value == "right")
    }

    @Test("After the reply of another program, a call still ends in time")
    @BusActor
    func call_withAnothersReply_endsInTime() async throws {
        let server = try await TestServer.start()
        let answer = try await callWithForgedReply(of: server, timeout: .milliseconds(200))
        await #expect(throws: BusError(.noReply, "")) { try await answer.value }
        server.object.release()
    }
}
