import Glibc
import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct DispatchTests {
    @Test
    @BusActor
    func call_validArguments_isAnswered() async throws {
        let server = try await TestServer.start()
        try await server.call("Record", "one")
        #expect(server.object.recorded.all == ["one"])
    }

    @Test
    @BusActor
    func call_sender_isUniqueName() async throws {
        let server = try await TestServer.start()
        #expect(try await server.call("Sender").read(String.self) == server.client.uniqueName)
    }

    @Test
    @BusActor
    func calls_every1024th_isReported() async throws {
        let server = try await TestServer.start()
        let objects = try #require(server.connection.server)
        let told = Recorder<UInt64>()
        objects.afterMuchWork = { told.record(objects.callCount) }
        for _ in 0..<2100 {
            let message = server.message("Record")
            message.append("one")
            message.expectNoReply()
            server.client.send(message)
        }
        try await server.call("Record", "last")
        #expect(objects.callCount == 2101)
        #expect(told.all == [1024, 2048])
    }

    @Test
    @BusActor
    func call_largeArguments_isReported() async throws {
        let server = try await TestServer.start()
        let objects = try #require(server.connection.server)
        let told = Recorder<UInt64>()
        objects.afterMuchWork = { told.record(objects.callCount) }
        let list = [String](repeating: String(repeating: "t", count: 1 << 10), count: 1100)
        try await server.call("Echo_97_115", of: "org.example.Echo", list)
        try await server.call("Echo_97_115", of: "org.example.Echo", ["text"])
        await #expect(throws: BusError.self) { try await server.call("Nothing", list) }
        let held = Task { try await server.call("HoldBytes", ByteArray([UInt8](repeating: 1, count: 2 << 20))) }
        _ = try await server.object.held.first("the call")
        server.object.release()
        _ = try await held.value
        #expect(told.all == [1, 3, 4])
    }

    @Test(
        arguments: [
            ("/nowhere", TestObject.interfaceName, "Record", .unknownObject),
            (TestObject.path.rawValue, "org.example.Nothing", "Record", .unknownInterface),
            (TestObject.path.rawValue, TestObject.interfaceName, "Nothing", .unknownMethod),
            (TestObject.path.rawValue, StandardInterface.properties, "Nothing", .unknownMethod),
            (TestObject.path.rawValue, StandardInterface.introspectable, "Nothing", .unknownMethod),
        ] as [(String, String, String, ErrorName)]
    )
    @BusActor
    func call_unknownTarget_fails(path: String, interface: String, member: String, error: ErrorName) async throws {
        let server = try await TestServer.start()
        await #expect(throws: BusError(error, "")) {
            try await server.call(member, of: interface, at: ObjectPath(unchecked: path), "one")
        }
    }

    @Test
    @BusActor
    func call_wrongArguments_failsBeforeTheMethodRuns() async throws {
        let server = try await TestServer.start()
        await #expect(throws: BusError(.invalidArguments, "")) { try await server.call("Record") }
        await #expect(throws: BusError(.invalidArguments, "")) { try await server.call("Record", UInt32(1)) }
        await #expect(throws: BusError(.invalidArguments, "")) { try await server.call("Record", "one", "two") }
        await #expect(throws: BusError(.invalidArguments, "")) { try await server.call("Hold", ObjectPath.root) }
        #expect(server.object.recorded.all.isEmpty)
    }

    @Test(arguments: ["Fail", "FailLater"])
    @BusActor
    func call_throwingMethod_failsWithItsError(member: String) async throws {
        let server = try await TestServer.start()
        do {
            try await server.call(member)
            Issue.record("\(member) has succeeded")
        } catch {
            #expect(error.name == (member == "Fail" ? .accessDenied : .limitsExceeded))
            #expect(error.message == "as you wish")
        }
    }

    @Test
    @BusActor
    func call_methodWithoutReply_fails() async throws {
        let server = try await TestServer.start()
        await #expect(throws: BusError(.failed, "")) { try await server.call("Forget") }
    }

    @Test
    @BusActor
    func call_suspendingMethodWithoutReply_failsAtEnd() async throws {
        let server = try await TestServer.start()
        let answer = Task { try await server.call("ForgetLater") }
        _ = try await server.object.held.first("the call")
        server.object.release()
        await #expect(throws: BusError(.failed, "")) { try await answer.value }
    }

    @Test
    @BusActor
    func call_methodWithTwoReplies_sendsFirst() async throws {
        let server = try await TestServer.start()
        #expect(try await server.call("AnswerTwice").read(String.self) == "first")
        #expect(try await server.call("Sender").read(String.self) == server.client.uniqueName)
    }

    @Test
    @BusActor
    func call_largeSecretReply_arrivesWhole() async throws {
        let server = try await TestServer.start()
        for size in [0, 1, 4096, 16 << 20] as [UInt32] {
            let bytes = try await server.call("Reveal", size).read(ByteArray.self).bytes
            #expect(bytes.count == size && isRevealed(bytes))
        }
    }

    /// A single comparison, as the shared event loop runs a slow debug build.
    private func isRevealed(_ bytes: [UInt8]) -> Bool {
        let expected = [UInt8](repeating: 0x5a, count: bytes.count)
        return memcmp(bytes, expected, bytes.count) == 0
    }

    @Test
    @BusActor
    func call_consecutiveSecrets_areIndependent() async throws {
        let server = try await TestServer.start()
        let calls = (0..<16).map { _ in
            Task { try await server.call("Reveal", UInt32(1 << 20)).read(ByteArray.self).bytes }
        }
        var replies: [[UInt8]] = []
        for call in calls {
            replies.append(try await call.value)
        }
        #expect(replies.count == 16)
        #expect(replies.allSatisfy { $0.count == 1 << 20 && isRevealed($0) })
    }

    @Test
    @BusActor
    func call_withoutInterface_findsTheMethod() async throws {
        let server = try await TestServer.start()
        let result = try await RawCaller(server.bus).run(
            """
            text = call(None, 'Sender').get_args_list()[0]
            assert text.startswith(':'), text
            assert 'org.example.Test' in call(None, 'Introspect').get_args_list()[0]
            assert call(None, 'Get', 'org.example.Test', 'Label').get_args_list() == ['first']
            fails('UnknownMethod', None, 'Nothing')
            fails('InvalidArgs', None, 'Record', 1)
            """
        )
        #expect(result.succeeded, "\(result.errors)")
    }

    @Test
    @BusActor
    func call_noReplyExpected_getsNone() async throws {
        let server = try await TestServer.start()
        let result = try await RawCaller(server.bus).run(
            """
            answers = []
            bus.add_message_filter(lambda bus, message: answers.append(message))
            send('org.example.Test', 'Record', 'quiet')
            send('org.example.Test', 'Fail')
            send('org.example.Test', 'FailLater')
            send('org.example.Test', 'Forget')
            send('org.example.Test', 'Nothing')
            send(PROPERTIES, 'Set', 'org.example.Test', 'Label', dbus.String('changed', variant_level=1))
            call('org.example.Test', 'Record', 'loud')
            assert not [a for a in answers if a.get_sender() != 'org.freedesktop.DBus'], answers
            """
        )
        #expect(result.succeeded, "\(result.errors)")
        #expect(server.object.recorded.all == ["quiet", "loud"])
        #expect(server.object.label == "changed")
    }

    @Test
    @BusActor
    func peer_anyPath_answers() async throws {
        let server = try await TestServer.start()
        let path = ObjectPath(unchecked: "/nowhere")
        try await server.call("Ping", of: StandardInterface.peer, at: path)
        let id = try await server.call("GetMachineId", of: StandardInterface.peer, at: path).read(String.self)
        #expect(id.count == 32)
        await #expect(throws: BusError(.unknownMethod, "")) {
            try await server.call("Nothing", of: StandardInterface.peer)
        }
    }

    @Test
    @BusActor
    func call_connectionWithoutServer_isUnknownMethod() async throws {
        let server = try await TestServer.start()
        server.connection.server = nil
        await #expect(throws: BusError(.unknownMethod, "")) { try await server.call("Record", "one") }
    }
}
