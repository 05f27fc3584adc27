import Glibc
import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct DescriptorTests {
    @Test
    @BusActor
    func manyDescriptors_areRefusedAtOnce_andHoldUpNobody() async throws {
        let server = try await DescriptorServer.start()
        // The bus passes 16 at once. While 253 wait, libdbus reads nothing more.
        let calls = (0..<17).map { _ in Task.immediate { @BusActor in try await server.take(16) } }
        for call in calls {
            await #expect(throws: BusError(.limitsExceeded, "")) { try await call.value }
        }
        try await server.test.call("Record", "next")
        #expect(server.object.held.all.isEmpty)
    }

    @Test
    @BusActor
    func waitingDescriptors_areLimitedForEachConnection() async throws {
        let server = try await DescriptorServer.start()
        let waiting = (0..<8).map { _ in Task { try await server.take(1) } }
        _ = try await server.object.held.first("the calls", after: 7)
        await #expect(throws: BusError(.limitsExceeded, "")) { try await server.take(1) }
        let other = try server.test.bus.connect()
        defer { other.close() }
        let others = Task { try await server.take(1, by: other) }
        _ = try await server.object.held.first("the other's call", after: 8)
        server.object.release()
        for call in waiting + [others] { try await call.value }
        let again = Task { try await server.take(1) }
        _ = try await server.object.held.first("a call with the free place", after: 9)
        server.object.release()
        try await again.value
    }

    @Test
    @BusActor
    func waitingDescriptors_leaveTheirPlacesToAnExportedObject() async throws {
        let server = try await DescriptorServer.start()
        let path = ObjectPath(unchecked: "/exported")
        let target = TestObject.kind.target(server.object)
        server.test.connection.export(target, at: path, to: server.test.client.uniqueName, takesDescriptors: true)
        let waiting = (0..<8).map { _ in Task { try await server.take(1) } }
        _ = try await server.object.held.first("the calls", after: 7)
        let others = (0..<9).map { _ in Task { try await server.take(1, at: path) } }
        _ = try await server.object.held.first("the calls of the exported object", after: 16)
        server.object.release()
        for call in waiting + others { try await call.value }
    }
}

/// A method that takes a descriptor, and asks the bus who calls before it does.
@BusActor
private final class DescriptorServer {
    let test: TestServer
    var object: TestObject { test.object }

    static func start() async throws -> DescriptorServer {
        let server = DescriptorServer(try await TestServer.start())
        server.test.connection.server?.pathsWithDescriptors = [TestObject.path.rawValue]
        return server
    }

    private init(_ test: TestServer) {
        self.test = test
    }

    func take(
        _ count: Int,
        at path: ObjectPath = TestObject.path,
        by client: Connection? = nil
    ) async throws(BusError) {
        let message = test.message("Take", at: path)
        for _ in 0..<count { message.append(FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))) }
        _ = try await (client ?? test.client).call(message, timeout: Patience.limit)
    }
}
