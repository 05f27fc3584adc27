import CKeychaindDBus
import KeychaindDBus
import KeychaindTestSupport
import Testing

struct WipingTests {
    private let secret = WireSecret(session: .root, parameters: [1, 2], value: [3, 4, 5], contentType: "text/plain")

    @Test
    func wipe_bytesAtEveryDepth_areZero() throws {
        let message = Arguments.message(
            ByteArray([9, 9]),
            [ObjectPath.root: secret],
            ["key": Variant.variant(.bytes(ByteArray([8])))],
            [ByteArray([7]), ByteArray([])]
        )
        message.wipeByteArrays()
        let read = try message.read(
            ByteArray.self,
            [ObjectPath: WireSecret].self,
            [String: Variant].self,
            [ByteArray].self
        )
        #expect(read.0.bytes == [0, 0])
        #expect(read.1[.root]?.value == [0, 0, 0])
        #expect(read.1[.root]?.parameters == [0, 0])
        #expect(read.2 == ["key": .variant(.bytes(ByteArray([0])))])
        #expect(read.3 == [ByteArray([0]), ByteArray([])])
    }

    @Test
    func wipe_otherTypes_areKept() throws {
        let message = Arguments.message("text", UInt64(5), secret, ["a": "b"])
        message.wipeByteArrays()
        let (text, number, wiped, dictionary) = try message.read(
            String.self,
            UInt64.self,
            WireSecret.self,
            [String: String].self
        )
        #expect(text == "text" && number == 5 && dictionary == ["a": "b"])
        #expect(wiped.session == .root && wiped.contentType == "text/plain")
    }

    @Test
    func wipeStrings_stringsAtEveryDepth_areOverwritten() throws {
        let message = Arguments.message(
            "text",
            ByteArray([1, 2]),
            ObjectPath.root,
            ["key": Variant.variant(.string("value"))],
            ["one", ""]
        )
        message.wipeStrings()
        let read = try message.read(
            String.self,
            ByteArray.self,
            ObjectPath.self,
            [String: Variant].self,
            [String].self
        )
        #expect(read.0 == "")
        #expect(read.1.bytes == [1, 2])
        #expect(read.2 == .root)
        #expect(read.3 == ["": .variant(.string(""))])
        #expect(read.4 == ["", ""])
    }

    @Test
    func receivedMessage_released_isOverwritten() throws {
        let message = Arguments.message(secret, "text")
        _ = Message(received: dbus_message_ref(message.pointer))
        let (wiped, text) = try message.read(WireSecret.self, String.self)
        #expect(wiped.value == [0, 0, 0] && wiped.parameters == [0, 0])
        #expect(text == "text")
    }

    @Test
    func wipe_emptyMessage_doesNothing() {
        let message = Arguments.message()
        message.wipeByteArrays()
        message.wipeStrings()
        #expect(message.signature == "")
    }
}

/// Overwriting of libdbus's receive buffer; `IdleMemoryTests` check that nothing remains.
@Suite(.onLoop)
struct ReceiveBufferTests {
    @Test
    @BusActor
    func receiveBuffer_afterBytes_isOverwrittenOnce() async throws {
        let server = try await TestServer.start()
        let heard = Recorder<[UInt8]>()
        server.connection.subscribe(to: SignalMatch(interface: "org.keychaind.Memory")) { message in
            heard.record((try? message.read(ByteArray.self).bytes) ?? [])
        }
        server.connection.wipeReceiveBuffer()
        try await server.call("Record", "no bytes")
        for count in 1...2 {
            // The call is refused for its type, but its bytes were received.
            await #expect(throws: BusError.self) { try await server.call("Record", ByteArray([1, 2, 3])) }
            let zeros = try await heard.first("a signal", after: count - 1) { _ in true }
            #expect(zeros == [UInt8](repeating: 0, count: 8 << 10))
            #expect(heard.count == count)
        }
    }
}
