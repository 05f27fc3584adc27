import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct SignalTests {
    @BusActor
    private final class Subscribed {
        var id: SubscriptionID?
    }

    private let interface = "org.example.Test"
    private let path = ObjectPath(unchecked: "/here")

    @Test
    @BusActor
    func subscribe_everyFilter_isApplied() async throws {
        let server = try await TestServer.start()
        let heard = Recorder<String>()
        let sender = server.connection.uniqueName
        let other = try server.bus.connect()
        defer { other.close() }
        for (name, match) in [
            ("any", SignalMatch(interface: interface)),
            ("member", SignalMatch(interface: interface, member: "Wanted")),
            ("path", SignalMatch(path: path, interface: interface)),
            ("sender", SignalMatch(sender: sender, interface: interface)),
            ("all", SignalMatch(sender: sender, path: path, interface: interface, member: "Wanted")),
            ("none", SignalMatch(interface: "org.example.Other")),
        ] {
            server.client.subscribe(to: match) { message in
                heard.record("\(name) \((try? message.read(String.self)) ?? "")")
            }
        }
        // The bus has added the match rules once it replies.
        try await server.call("Sender")
        send("1", path, "Wanted", from: server.connection)
        send("2", path, "Other", from: server.connection)
        send("3", .root, "Wanted", from: server.connection)
        try await server.call("Sender")
        send("4", path, "Wanted", from: other)
        _ = try await heard.first("the last signal") { $0 == "any 4" }
        try await server.call("Sender")
        #expect(
            Set(heard.all) == [
                "any 1", "any 2", "any 3", "any 4", "member 1", "member 3", "member 4", "path 1", "path 2", "path 4",
                "sender 1", "sender 2", "sender 3", "all 1",
            ]
        )
        #expect(heard.count == 14)
    }

    @Test
    @BusActor
    func unsubscribe_laterSignals_areNotDelivered() async throws {
        let server = try await TestServer.start()
        let heard = Recorder<String>()
        let id = server.client.subscribe(to: SignalMatch(interface: interface)) { _ in heard.record("gone") }
        server.client.subscribe(to: SignalMatch(interface: interface)) { _ in heard.record("stays") }
        server.client.unsubscribe(id)
        server.client.unsubscribe(id)
        try await server.call("Sender")
        send("text", path, "Signal", from: server.connection)
        _ = try await heard.first("the signal")
        try await server.call("Sender")
        #expect(heard.all == ["stays"])
    }

    @Test
    @BusActor
    func unsubscribe_inHandler_endsDelivery() async throws {
        let server = try await TestServer.start()
        let heard = Recorder<String>()
        let once = Subscribed()
        once.id = server.client.subscribe(to: SignalMatch(interface: interface)) { _ in
            heard.record("heard")
            if let id = once.id { server.client.unsubscribe(id) }
        }
        try await server.call("Sender")
        for _ in 0..<3 {
            send("text", path, "Signal", from: server.connection)
        }
        try await server.call("Sender")
        #expect(heard.count == 1)
    }

    @Test
    @BusActor
    func send_unicast_reachesOnlyReceiver() async throws {
        let server = try await TestServer.start()
        let other = try server.bus.connect()
        defer { other.close() }
        let (mine, others) = (Recorder<String>(), Recorder<String>())
        server.client.subscribe(to: SignalMatch(interface: interface)) { _ in mine.record("") }
        other.subscribe(to: SignalMatch(interface: interface)) { message in
            others.record(message.member ?? "")
        }
        try await server.call("Sender")
        _ = try await other.call(server.message("Sender"))
        server.connection.send(.signal(path, interface, "Private", to: server.client.uniqueName))
        server.connection.send(.signal(path, interface, "Public"))
        _ = try await others.first("the public signal") { $0 == "Public" }
        #expect(others.all == ["Public"])
        _ = try await mine.first("both signals", after: 1)
    }

    @Test
    @BusActor
    func emitPropertiesChanged_arrives_withNamesAndValues() async throws {
        let server = try await TestServer.start()
        let heard = Recorder<Message>()
        server.client.subscribe(to: SignalMatch(interface: StandardInterface.properties)) { heard.record($0) }
        try await server.call("Sender")
        server.connection.emitPropertiesChanged(path, interface) { $0.writeProperty("Label", "new") }
        let message = try await heard.first("the signal")
        let (name, values, invalid) = try message.read(String.self, [String: Variant].self, [String].self)
        #expect(name == interface && values == ["Label": .string("new")] && invalid.isEmpty)
        #expect(message.interface == StandardInterface.properties && message.member == "PropertiesChanged")
        #expect(message.path == path.rawValue && message.sender == server.connection.uniqueName)
    }

    @Test
    @BusActor
    func emit_unicast_reachesOnlyReceiver() async throws {
        let server = try await TestServer.start()
        let other = try server.bus.connect()
        defer { other.close() }
        let (mine, others) = (Recorder<String>(), Recorder<String>())
        for (connection, recorder) in [(server.client, mine), (other, others)] {
            connection.subscribe(to: SignalMatch(interface: interface)) { recorder.record($0.member ?? "") }
        }
        try await server.call("Sender")
        _ = try await other.call(server.message("Sender"))
        server.connection.emit(path, interface, "Private", to: server.client.uniqueName) { _ in }
        server.connection.emit(path, interface, "Public") { _ in }
        _ = try await others.first("the public signal") { $0 == "Public" }
        #expect(others.all == ["Public"])
        _ = try await mine.first("both signals", after: 1)
    }

    @BusActor
    private func send(_ text: String, _ path: ObjectPath, _ member: String, from connection: Connection) {
        let message = Message.signal(path, interface, member)
        message.append(text)
        connection.send(message)
    }
}
