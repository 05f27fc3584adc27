import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct PropertyTests {
    private let name = TestObject.interfaceName

    @Test
    @BusActor
    func get_property_returnsValue() async throws {
        let server = try await TestServer.start()
        #expect(try await get("Label", server) == .string("first"))
    }

    @Test
    @BusActor
    func getAll_interface_returnsItsProperties() async throws {
        let server = try await TestServer.start()
        let values = try await getAll(name, server)
        #expect(Set(values.keys) == ["Label", "Names", "Numbers", "Slow"])
        #expect(values["Label"] == .string("first"))
        #expect(values["Numbers"] == .other(signature: "at"))
    }

    @Test
    @BusActor
    func getAll_interface_isInDeclarationOrder() async throws {
        let server = try await TestServer.start()
        let reply = try await server.call("GetAll", of: StandardInterface.properties, name)
        var names: [String] = []
        var reader = reply.makeReader()
        try reader.readDictionary { (reader) throws(BusError) in
            names.append(try String(from: &reader))
            reader.skip()
        }
        #expect(names == ["Label", "Numbers", "Names", "Slow"])
    }

    @Test
    @BusActor
    func getAll_emptyName_returnsAllProperties() async throws {
        let server = try await TestServer.start()
        #expect(try await getAll("", server).count == 4)
    }

    @Test(arguments: ["org.example.Echo", StandardInterface.peer, StandardInterface.properties])
    @BusActor
    func getAll_interfaceWithoutProperties_isEmpty(interface: String) async throws {
        let server = try await TestServer.start()
        #expect(try await getAll(interface, server).isEmpty)
    }

    @Test
    @BusActor
    func properties_unknownNames_fail() async throws {
        let server = try await TestServer.start()
        await #expect(throws: BusError(.unknownProperty, "")) { try await get("Nothing", server) }
        await #expect(throws: BusError(.unknownProperty, "")) { try await set("Nothing", "text", server) }
        await #expect(throws: BusError(.unknownInterface, "")) { try await getAll("org.example.Nothing", server) }
        await #expect(throws: BusError(.unknownInterface, "")) {
            try await server.call("Get", of: StandardInterface.properties, "org.example.Nothing", "Label")
        }
    }

    @Test
    @BusActor
    func properties_wrongArguments_fail() async throws {
        let server = try await TestServer.start()
        for member in ["Get", "GetAll", "Set"] {
            await #expect(throws: BusError(.invalidArguments, "")) {
                try await server.call(member, of: StandardInterface.properties, UInt32(1))
            }
        }
        await #expect(throws: BusError(.invalidArguments, "")) {
            try await server.call("Set", of: StandardInterface.properties, name, "Label", "not a variant")
        }
    }

    @Test
    @BusActor
    func set_property_changesIt() async throws {
        let server = try await TestServer.start()
        try await set("Label", "second", server)
        #expect(server.object.label == "second")
    }

    @Test
    @BusActor
    func set_readOnlyProperty_fails() async throws {
        let server = try await TestServer.start()
        await #expect(throws: BusError(.propertyReadOnly, "")) { try await set("Numbers", [UInt64](), server) }
        #expect(server.object.numbers == [1, 2, 3])
    }

    @Test
    @BusActor
    func set_valueOfAnotherType_fails() async throws {
        let server = try await TestServer.start()
        await #expect(throws: BusError(.invalidArguments, "")) { try await set("Label", UInt32(1), server) }
        await #expect(throws: BusError(.invalidArguments, "")) { try await set("Label", Variant.string("x"), server) }
        #expect(server.object.label == "first")
    }

    @Test
    @BusActor
    func set_emptyArrayOfAnotherType_fails() async throws {
        let server = try await TestServer.start()
        await #expect(throws: BusError(.invalidArguments, "")) { try await set("Names", [ObjectPath](), server) }
        await #expect(throws: BusError(.invalidArguments, "")) { try await set("Names", [String: String](), server) }
        #expect(server.object.names == ["name"])
        try await set("Names", [String](), server)
        #expect(server.object.names == [])
    }

    @Test
    @BusActor
    func set_refusedValue_fails() async throws {
        let server = try await TestServer.start()
        await #expect(throws: BusError(.invalidArguments, "")) {
            try await set("Label", "much too long a label", server)
        }
        #expect(server.object.label == "first")
    }

    @Test
    @BusActor
    func set_suspendingSetter_repliesAtEnd() async throws {
        let server = try await TestServer.start()
        let answer = Task { try await set("Slow", "slow", server) }
        _ = try await server.object.held.first("the setter")
        #expect(try await get("Label", server) == .string("first"))
        server.object.release()
        try await answer.value
        #expect(server.object.label == "slow")
    }

    @BusActor
    private func get(_ property: String, _ server: TestServer) async throws(BusError) -> Variant {
        try await server.call("Get", of: StandardInterface.properties, name, property).read(Variant.self)
    }

    @discardableResult
    @BusActor
    private func getAll(_ interface: String, _ server: TestServer) async throws(BusError) -> [String: Variant] {
        try await server.call("GetAll", of: StandardInterface.properties, interface).read([String: Variant].self)
    }

    @BusActor
    private func set(_ property: String, _ value: some BusValue, _ server: TestServer) async throws(BusError) {
        let message = server.message("Set", of: StandardInterface.properties)
        message.append(name, property)
        message.write { Variant.write(value, to: &$0) }
        _ = try await server.client.call(message)
    }
}
