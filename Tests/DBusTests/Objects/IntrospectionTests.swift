import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct IntrospectionTests {
    @Test
    @BusActor
    func introspect_object_listsAllMembers() async throws {
        let server = try await TestServer.start()
        let text = try await server.call("Introspect", of: StandardInterface.introspectable).read(String.self)
        for line in [
            #"<interface name="org.example.Test">"#,
            #"<arg name="bytes" type="ay" direction="in"/>"#,
            #"<arg name="name" type="s" direction="out"/>"#,
            #"<property name="Label" type="s" access="readwrite"/>"#,
            #"<property name="Numbers" type="at" access="read"/>"#,
            #"<property name="Slow" type="s" access="readwrite">"#,
            #"<annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="false"/>"#,
            #"<signal name="Gone"/>"#,
            #"<arg name="path" type="o"/>"#,
            #"<node name="second"/>"#,
        ] {
            #expect(text.contains(line))
        }
    }

    @Test
    @BusActor
    func introspect_withArguments_fails() async throws {
        let server = try await TestServer.start()
        await #expect(throws: BusError(.invalidArguments, "")) {
            try await server.call("Introspect", of: StandardInterface.introspectable, "argument")
        }
    }

    @Test
    @BusActor
    func introspect_twice_isEqual() async throws {
        let server = try await TestServer.start()
        let first = try await server.call("Introspect", of: StandardInterface.introspectable).read(String.self)
        let second = try await server.call("Introspect", of: StandardInterface.introspectable).read(String.self)
        #expect(first == second)
    }

    @BusActor
    private func introspectWithGDBus(_ server: TestServer) async throws -> CommandResult {
        // gdbus waits only 3 s.
        let clock = try await ProgramClock.environment
        return try await Command.run(
            "gdbus",
            ["introspect", "--session", "--dest", TestServer.name, "--object-path", TestObject.path.rawValue],
            environment: server.bus.environment.merging(clock) { $1 }
        )
    }

    @Test
    @BusActor
    func introspect_withGDBus_isParsed() async throws {
        let server = try await TestServer.start()
        let result = try await introspectWithGDBus(server)
        #expect(result.succeeded, "\(result.errors)")
        for interface in ["org.example.Test", "org.example.Echo", "org.freedesktop.DBus.Properties"] {
            #expect(result.text.contains("interface \(interface) {"))
        }
        #expect(result.text.contains("readwrite s Label = 'first';"))
        #expect(result.text.contains("readonly at Numbers = [1, 2, 3];"))
    }

    @Test
    @BusActor
    func introspect_withBusctl_isParsed() async throws {
        let server = try await TestServer.start()
        let result = try await Command.run(
            "busctl",
            ["--address", server.bus.address, "introspect", TestServer.name, TestObject.path.rawValue],
            environment: server.bus.environment
        )
        #expect(result.succeeded, "\(result.errors)")
        #expect(result.text.contains(".Hold"))
        #expect(result.text.contains(".Changed"))
    }
}
