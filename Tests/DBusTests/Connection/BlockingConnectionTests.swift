import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Calls that block the calling thread.
struct BlockingConnectionTests {
    @Test("A call is answered, also after many large messages from others")
    func call_afterAFlood_isAnswered() async throws {
        let bus = try await PrivateBus()
        let connection = try BlockingConnection(bus.address)
        // More than libdbus reads ahead.
        let flood = try BlockingConnection(bus.address)
        for _ in 0..<80 {
            let message = Message.call(to: connection.uniqueName, .root, "org.example.Test", "Flood")
            message.append(ByteArray([UInt8](repeating: 1, count: 1 << 20)))
            #expect(throws: BusError(.noReply, "")) { try flood.call(message, timeout: .milliseconds(1)) }
        }
        _ = try flood.call(busCall("GetId"), timeout: Patience.limit)
        #expect(try connection.call(busCall("GetId"), timeout: Patience.limit).read(String.self).isEmpty == false)
    }

    @Test("A call without an answer ends at its time limit, and an error is thrown")
    func call_noReply_fails() async throws {
        let bus = try await PrivateBus()
        let connection = try BlockingConnection(bus.address)
        let silent = try BlockingConnection(bus.address)
        let message = Message.call(to: silent.uniqueName, .root, "org.example.Test", "Hold")
        #expect(throws: BusError(.noReply, "")) { try connection.call(message, timeout: .milliseconds(50)) }
        let unknown = Message.call(to: "org.example.Nobody", .root, "org.example.Test", "Method")
        #expect(throws: BusError(.serviceUnknown, "")) { try connection.call(unknown, timeout: Patience.limit) }
    }

    private func busCall(_ member: String) -> Message {
        Message.call(
            to: "org.freedesktop.DBus",
            ObjectPath(unchecked: "/org/freedesktop/DBus"),
            "org.freedesktop.DBus",
            member
        )
    }
}
