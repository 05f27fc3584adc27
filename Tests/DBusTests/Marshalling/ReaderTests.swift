import KeychaindDBus
import KeychaindTestSupport
import Testing

struct ReaderTests {
    @Test
    func read_anotherBasicType_isInvalidArgs() {
        expectInvalid(Arguments.message("text"), ObjectPath.self)
        expectInvalid(Arguments.message(ObjectPath.root), String.self)
        expectInvalid(Arguments.message(UInt32(1)), Int32.self)
        expectInvalid(Arguments.message(UInt64(1)), UInt32.self)
        expectInvalid(Arguments.message(UInt8(1)), Bool.self)
    }

    @Test
    func read_anotherContainer_isInvalidArgs() {
        expectInvalid(Arguments.message(["text"]), [ObjectPath].self)
        expectInvalid(Arguments.message(["text"]), String.self)
        expectInvalid(Arguments.message(["text"]), ByteArray.self)
        expectInvalid(Arguments.message("text"), ByteArray.self)
        expectInvalid(Arguments.message(ByteArray([1])), [String].self)
        expectInvalid(Arguments.message(["key": "value"]), [String: Variant].self)
        expectInvalid(Arguments.message(["text"]), [String: String].self)
        expectInvalid(Arguments.message("text"), WireSecret.self)
        expectInvalid(Arguments.message("text"), Variant.self)
    }

    @Test
    func read_missingArgument_isInvalidArgs() {
        expectInvalid(Arguments.message(), String.self)
        #expect(throws: BusError(.invalidArguments, "")) {
            _ = try Arguments.message("one").read(String.self, String.self)
        }
    }

    @Test
    func read_extraArgument_isInvalidArgs() {
        expectInvalid(Arguments.message("one", "two"), String.self)
    }

    @Test
    func read_wrongType_namesBothTypes() {
        do {
            _ = try Arguments.message(UInt32(1)).read(String.self)
            Issue.record("a number was read as text")
        } catch {
            #expect(error.message.contains("'s'") && error.message.contains("'u'"))
        }
    }

    @Test
    func withBytes_arrayOfStrings_throwsBeforeCallback() throws {
        var reader = Arguments.message(["text"]).makeReader()
        var wasCalled = false
        #expect(throws: BusError.self) {
            try reader.withBytes { (_) throws(BusError) in wasCalled = true }
        }
        #expect(!wasCalled)
    }

    @Test
    func withBytes_emptyArray_givesNoBytes() throws {
        var reader = Arguments.message(ByteArray([]), "next").makeReader()
        #expect(try reader.withBytes { (bytes) throws(BusError) in bytes.count } == 0)
        #expect(try String(from: &reader) == "next")
    }

    @Test
    func skip_anyValue_movesToNext() throws {
        var reader = Arguments.message(["a": Variant.strings(["b"])], UInt8(7)).makeReader()
        let signature = reader.nextSignature
        reader.skip()
        #expect(signature == "a{sv}")
        #expect(try UInt8(from: &reader) == 7)
    }

    @Test
    func skip_atEnd_doesNothing() {
        var reader = Arguments.message().makeReader()
        reader.skip()
        let (isAtEnd, signature) = (reader.isAtEnd, reader.nextSignature)
        #expect(isAtEnd && signature.isEmpty)
    }

    @Test
    func readStructure_membersLeftUnread_continuesAfterIt() throws {
        let secret = WireSecret(session: .root, value: [1])
        var reader = Arguments.message(secret, "next").makeReader()
        let session = try reader.readStructure { (reader) throws(BusError) in try ObjectPath(from: &reader) }
        #expect(session == .root)
        #expect(try String(from: &reader) == "next")
    }

    @Test
    func readStructure_tooManyMembersRead_isInvalidArgs() {
        let message = Arguments.message()
        message.write { $0.writeStructure { UInt8(1).write(to: &$0) } }
        #expect(throws: BusError(.invalidArguments, "")) {
            var reader = message.makeReader()
            try reader.readStructure { (reader) throws(BusError) in
                _ = try UInt8(from: &reader)
                _ = try UInt8(from: &reader)
            }
        }
    }

    @Test
    func variant_unsupportedType_keepsSignature() throws {
        let message = Arguments.message()
        message.write { writer in
            writer.writeVariant("(sy)") { writer in
                writer.writeStructure { writer in
                    "text".write(to: &writer)
                    UInt8(1).write(to: &writer)
                }
            }
            "next".write(to: &writer)
        }
        let (variant, next) = try message.read(Variant.self, String.self)
        #expect(variant == .other(signature: "(sy)"))
        #expect(next == "next")
    }

    @Test
    func variant_nested_isReadCompletely() throws {
        var value = Variant.string("deep")
        for _ in 0..<50 {
            value = .variant(value)
        }
        #expect(try Arguments.roundTrip(value) == value)
    }

    private func expectInvalid<Value: BusValue>(
        _ message: Message,
        _ type: Value.Type,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: BusError(.invalidArguments, ""), sourceLocation: sourceLocation) {
            _ = try message.read(type)
        }
    }
}
