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
    func waitingDescriptors_areLimitedForEachProgram() async throws {
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

    func take(_ count: Int, by client: Connection? = nil) async throws(BusError) {
        let message = test.message("Take")
        for _ in 0..<count { message.append(FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))) }
        _ = try await (client ?? test.client).call(message, timeout: Patience.limit)
    }
}
