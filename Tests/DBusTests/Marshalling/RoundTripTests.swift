import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

struct RoundTripTests {
    @Test(arguments: [false, true])
    func boolean(value: Bool) throws {
        #expect(try Arguments.roundTrip(value) == value)
    }

    @Test
    func integers_bounds_roundTrip() throws {
        for value in [UInt8.min, .max] { #expect(try Arguments.roundTrip(value) == value) }
        for value in [Int32.min, -1, 0, .max] { #expect(try Arguments.roundTrip(value) == value) }
        for value in [UInt32.min, .max] { #expect(try Arguments.roundTrip(value) == value) }
        for value in [UInt64.min, 1 << 63, .max] { #expect(try Arguments.roundTrip(value) == value) }
    }

    @Test(arguments: ["", "a", "ключ", "🔑\u{10ffff}", "e\u{301}", "line\nline\t\u{1}\u{7f}", "\u{fffe}\u{ffff}"])
    func string(text: String) throws {
        #expect(try Array(Arguments.roundTrip(text).utf8) == Array(text.utf8))
    }

    @Test
    func string_1MiB_roundTrips() throws {
        let text = String(repeating: "é", count: 1 << 19)
        #expect(try Arguments.roundTrip(text) == text)
    }

    @Test
    func bytes_16MiB_roundTrip() throws {
        let bytes = ByteArray([UInt8](repeating: 0xa5, count: 16 << 20))
        #expect(try Arguments.roundTrip(bytes) == bytes)
    }

    @Test
    func emptyContainers_roundTrip() throws {
        #expect(try Arguments.roundTrip(ByteArray([])) == ByteArray([]))
        #expect(try Arguments.roundTrip([String]()) == [])
        #expect(try Arguments.roundTrip([[UInt64]]()) == [])
        #expect(try Arguments.roundTrip([String: String]()) == [:])
        #expect(try Arguments.roundTrip([ObjectPath: WireSecret]()) == [:])
    }

    @Test
    func emptyContainers_haveSignature() {
        #expect(Arguments.message([String: Variant]()).signature == "a{sv}")
        #expect(Arguments.message([ObjectPath: WireSecret]()).signature == "a{o(oayays)}")
        #expect(Arguments.message([ObjectPath](), ObjectPath.root).signature == "aoo")
    }

    @Test
    func structure_withBytes_roundTrips() throws {
        let secret = WireSecret(
            session: .root,
            parameters: Array(0..<16),
            value: [0, 10, 0xff, 0xfe, 0],
            contentType: "text/plain; charset=utf8"
        )
        #expect(try Arguments.roundTrip(secret) == secret)
        #expect(try Arguments.roundTrip([ObjectPath.root: secret]) == [.root: secret])
    }

    @Test
    func arguments_areReadInOrder() throws {
        let message = Arguments.message(UInt8(1), "two", [UInt64(3)], Variant.boolean(true))
        #expect(message.signature == "ysatv")
        let (one, two, three, four) = try message.read(UInt8.self, String.self, [UInt64].self, Variant.self)
        #expect(one == 1 && two == "two" && three == [3] && four == .boolean(true))
    }

    @Test
    func dictionary_duplicateKey_lastWins() throws {
        let message = Arguments.message()
        message.write { writer in
            writer.writeArray(of: "{ss}") { writer in
                for value in ["old", "new"] {
                    writer.writeEntry { writer in
                        "key".write(to: &writer)
                        value.write(to: &writer)
                    }
                }
            }
        }
        #expect(try message.read([String: String].self) == ["key": "new"])
    }

    @Test(arguments: 0..<200)
    func randomValues_roundTrip(seed: Int) throws {
        var random = RandomValues(seed: UInt64(seed))
        let message = Arguments.message(
            random.variant(),
            random.properties(),
            random.list { $0.list { $0.string() } },
            random.uint64(),
            random.bytes(),
            random.stringDictionary(),
            random.objectPath()
        )
        random = RandomValues(seed: UInt64(seed))
        let read = try message.read(
            Variant.self,
            [String: Variant].self,
            [[String]].self,
            UInt64.self,
            ByteArray.self,
            [String: String].self,
            ObjectPath.self
        )
        #expect(read.0 == random.variant())
        #expect(read.1 == random.properties())
        #expect(read.2 == random.list { $0.list { $0.string() } })
        #expect(read.3 == random.uint64())
        #expect(read.4 == random.bytes())
        #expect(read.5 == random.stringDictionary())
        #expect(read.6 == random.objectPath())
    }
}

/// Descriptors as values of messages.
struct FileDescriptorTests {
    @Test
    func read_descriptor_isDuplicate() throws {
        let message = makeMessage()
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        do {
            message.append(FileDescriptor(owning: ends[0]))
        }
        // The first owner has closed its descriptor.
        #expect(fcntl(ends[0], F_GETFD) == -1)
        let received = try message.read(FileDescriptor.self)
        #expect(write(ends[1], "x", 1) == 1)
        close(ends[1])
        var byte: UInt8 = 0
        #expect(read(received.rawValue, &byte, 1) == 1)
        #expect(byte == UInt8(ascii: "x"))
        #expect(fcntl(received.rawValue, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test
    func read_descriptorTwice_givesTwoDuplicates() throws {
        let message = makeMessage()
        message.append(FileDescriptor(owning: open("/dev/null", O_RDONLY)))
        let first = try message.read(FileDescriptor.self)
        let second = try message.read(FileDescriptor.self)
        #expect(first.rawValue != second.rawValue)
    }

    @Test
    func read_otherType_isInvalidArguments() throws {
        let message = makeMessage()
        message.append(UInt32(0))
        #expect(throws: BusError(.invalidArguments, "")) {
            _ = try message.read(FileDescriptor.self)
        }
        #expect(FileDescriptor.signature == "h")
    }

    private func makeMessage() -> Message {
        Message.call(to: "test.example", ObjectPath(unchecked: "/"), "test.example", "Take")
    }
}

struct ObjectPathTests {
    @Test(arguments: ["/", "/a", "/a/b", "/_/0/Z9_", "/org/freedesktop/secrets/collection/Default_5fkeyring/12"])
    func init_validPath_succeeds(text: String) {
        #expect(ObjectPath(text)?.rawValue == text)
    }

    @Test(arguments: [
        "", "a", "//", "/a/", "/a//b", "a/b", "/a-b", "/a b", "/ä", "/a\u{0}", "/a.b", "/a\n", " /a", "/a:",
    ])
    func init_invalidPath_isNil(text: String) {
        #expect(ObjectPath(text) == nil)
    }
}
