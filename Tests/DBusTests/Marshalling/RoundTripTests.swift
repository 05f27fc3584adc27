import DBus
import TestSupport
import Testing

struct RoundTripTests {
    @Test(arguments: [false, true])
    func boolean(value: Bool) throws {
        #expect(try Arguments.roundTrip(value) == value)
    }

    @Test
    func integers_atTheirBounds_stay() throws {
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
    func string_ofAMebibyte_stays() throws {
        let text = String(repeating: "é", count: 1 << 19)
        #expect(try Arguments.roundTrip(text) == text)
    }

    @Test
    func bytes_16MiB_stay() throws {
        let bytes = ByteArray([UInt8](repeating: 0xa5, count: 16 << 20))
        #expect(try Arguments.roundTrip(bytes) == bytes)
    }

    @Test
    func emptyContainers_stayEmpty() throws {
        #expect(try Arguments.roundTrip(ByteArray([])) == ByteArray([]))
        #expect(try Arguments.roundTrip([String]()) == [])
        #expect(try Arguments.roundTrip([[UInt64]]()) == [])
        #expect(try Arguments.roundTrip([String: String]()) == [:])
        #expect(try Arguments.roundTrip([ObjectPath: WireSecret]()) == [:])
    }

    @Test
    func emptyContainers_haveTheirSignature() {
        #expect(Arguments.message([String: Variant]()).signature == "a{sv}")
        #expect(Arguments.message([ObjectPath: WireSecret]()).signature == "a{o(oayays)}")
        #expect(Arguments.message([ObjectPath](), ObjectPath.root).signature == "aoo")
    }

    @Test
    func structure_withBytes_staysByteForByte() throws {
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
    func severalArguments_areReadInOrder() throws {
        let message = Arguments.message(UInt8(1), "two", [UInt64(3)], Variant.boolean(true))
        #expect(message.signature == "ysatv")
        let (one, two, three, four) = try message.read(UInt8.self, String.self, [UInt64].self, Variant.self)
        #expect(one == 1 && two == "two" && three == [3] && four == .boolean(true))
    }

    @Test
    func dictionary_withOneKeyTwice_takesTheLast() throws {
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
    func anything_random_stays(seed: Int) throws {
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
