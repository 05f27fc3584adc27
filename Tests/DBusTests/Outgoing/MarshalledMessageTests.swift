import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Marshalled messages, as read by libdbus at the other end of a bus.
@Suite(.onLoop)
struct MarshalledMessageTests {
    private static let interface = "org.example.Marshalled"

    @Test
    @BusActor
    func emit_randomValues_arriveUnchanged() async throws {
        let peers = try await Peers()
        for seed in 0..<200 as Range<UInt64> {
            var random = RandomValues(seed: seed)
            let variant = random.variant()
            let properties = random.properties()
            let names = random.list { $0.list { $0.string() } }
            let number = random.uint64()
            let bytes = random.bytes()
            let dictionary = random.stringDictionary()
            let path = random.objectPath()
            let message = try await peers.send { writer in
                variant.write(to: &writer)
                properties.write(to: &writer)
                names.write(to: &writer)
                number.write(to: &writer)
                bytes.write(to: &writer)
                dictionary.write(to: &writer)
                path.write(to: &writer)
            }
            #expect(message.signature == "va{sv}aastaya{ss}o")
            let read = try message.read(
                Variant.self,
                [String: Variant].self,
                [[String]].self,
                UInt64.self,
                ByteArray.self,
                [String: String].self,
                ObjectPath.self
            )
            #expect(read.0 == variant && read.1 == properties && read.2 == names, "seed \(seed)")
            #expect(read.3 == number && read.4 == bytes && read.5 == dictionary && read.6 == path, "seed \(seed)")
        }
    }

    @Test
    @BusActor
    func emit_basicTypesAtEveryOffset_areAligned() async throws {
        let peers = try await Peers()
        for count in 0..<9 {
            let message = try await peers.send { writer in
                for _ in 0..<count { UInt8(7).write(to: &writer) }
                UInt32.max.write(to: &writer)
                true.write(to: &writer)
                UInt64.max.write(to: &writer)
                Int32.min.write(to: &writer)
                [UInt64]().write(to: &writer)
                [UInt64.max].write(to: &writer)
            }
            #expect(message.signature == String(repeating: "y", count: count) + "ubtiatat")
            var reader = message.makeReader()
            for _ in 0..<count { #expect(try UInt8(from: &reader) == 7) }
            #expect(try UInt32(from: &reader) == .max)
            #expect(try Bool(from: &reader))
            #expect(try UInt64(from: &reader) == .max)
            #expect(try Int32(from: &reader) == .min)
            #expect(try [UInt64](from: &reader) == [])
            #expect(try [UInt64](from: &reader) == [.max])
        }
    }

    @Test
    @BusActor
    func emit_nestedStructures_haveSignature() async throws {
        let peers = try await Peers()
        let secret = WireSecret(session: .root, parameters: [], value: [1, 0, 255], contentType: "")
        let message = try await peers.send { writer in
            secret.write(to: &writer)
            [ObjectPath.root: secret].write(to: &writer)
            writer.writeVariant("(s(yv))") { writer in
                writer.writeStructure { writer in
                    "text".write(to: &writer)
                    writer.writeStructure { writer in
                        UInt8(1).write(to: &writer)
                        Variant.bytes(ByteArray([2])).write(to: &writer)
                    }
                }
            }
        }
        #expect(message.signature == "(oayays)a{o(oayays)}v")
        let (first, second, third) = try message.read(WireSecret.self, [ObjectPath: WireSecret].self, Variant.self)
        #expect(first == secret && second == [.root: secret] && third == .other(signature: "(s(yv))"))
    }

    @Test
    @BusActor
    func emit_nothing_hasNoSignature() async throws {
        let message = try await Peers().send { _ in }
        #expect(message.signature.isEmpty)
        #expect(message.path == "/" && message.interface == Self.interface && message.member == "Signal")
    }

    @Test
    @BusActor
    func emit_longValues_arriveWhole() async throws {
        let peers = try await Peers()
        let text = String(repeating: "é", count: 1 << 18)
        let bytes = ByteArray([UInt8](repeating: 0xa5, count: 4 << 20))
        let message = try await peers.send { writer in
            text.write(to: &writer)
            bytes.write(to: &writer)
        }
        let read = try message.read(String.self, ByteArray.self)
        #expect(read.0 == text && read.1 == bytes)
    }

    @Test
    @BusActor
    func reply_error_hasNameAndMessage() async throws {
        let server = try await TestServer.start()
        await #expect(throws: BusError(.accessDenied, "")) { try await server.call("Fail") }
        let result = try await RawCaller(server.bus).run("fails('AccessDenied', 'org.example.Test', 'Fail')")
        #expect(result.succeeded, "\(result.errors)")
    }

    @Test
    @BusActor
    func reply_oversized_isLimitsExceeded() async throws {
        let server = try await TestServer.start()
        await #expect(throws: BusError(.limitsExceeded, "")) { try await server.call("Reveal", UInt32(64 << 20 + 1)) }
        try await server.call("Record", "still here")
    }

    @Test
    @BusActor
    func emit_oversized_isReportedAndDropped() async throws {
        let server = try await TestServer.start()
        let told = Recorder<String>()
        server.connection.onOversizedSignal = { told.record($0) }
        server.connection.emit(.root, Self.interface, "Signal") { writer in
            ByteArray([UInt8](repeating: 0, count: 64 << 20 + 1)).write(to: &writer)
        }
        #expect(told.all == ["\(Self.interface).Signal"])
        try await server.call("Record", "still here")
    }

    @Test
    @BusActor
    func reply_longErrorMessage_isCutAtCharacter() async throws {
        let server = try await TestServer.start()
        let name = "x" + String(repeating: "é", count: 100_000)
        let error = await #expect(throws: BusError(.unknownInterface, "")) {
            try await server.call("GetAll", of: StandardInterface.properties, name)
        }
        let message = try #require(error).message
        #expect(message.utf8.count == 511 && message.hasSuffix("éé"))
    }

    /// A sender and a receiver.
    @BusActor
    private final class Peers {
        private let server: TestServer
        private let heard = Recorder<Message>()
        private var count = 0

        init() async throws {
            server = try await TestServer.start()
            server.client.subscribe(to: SignalMatch(interface: MarshalledMessageTests.interface)) { [heard] in
                heard.record($0)
            }
            try await server.call("Sender")
        }

        /// Sends the values that the closure writes and returns the received message.
        func send(_ values: (inout Writer) -> Void) async throws -> Message {
            server.connection.emit(.root, MarshalledMessageTests.interface, "Signal", values)
            count += 1
            return try await heard.first("the signal", after: count - 1)
        }
    }
}
