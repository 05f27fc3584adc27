import DBus
import TestSupport

/// A private bus with a ``TestObject`` on it, and a client.
@BusActor
final class TestServer {
    nonisolated static let name = "org.example.Server"

    nonisolated let bus: PrivateBus
    let connection: Connection
    let client: Connection
    let object = TestObject()

    static func start(limit: Int = 100, byteLimit: Int = 32 << 20) async throws -> TestServer {
        try TestServer(on: await PrivateBus(), limit: limit, byteLimit: byteLimit)
    }

    init(on bus: PrivateBus, limit: Int, byteLimit: Int) throws {
        self.bus = bus
        connection = try bus.connect()
        client = try bus.connect()
        let object = object
        connection.server = ObjectServer(on: connection, limit: limit, byteLimit: byteLimit) {
            (call) throws(BusError) in
            guard call.path == TestObject.path.rawValue else {
                throw BusError(.unknownObject, "nothing is at \(call.path)")
            }
            return TestObject.kind.target(object)
        }
        _ = try connection.requestName(TestServer.name)
    }

    deinit {
        let (connection, client) = (connection, client)
        Task { @BusActor in
            connection.close()
            client.close()
        }
    }

    /// A call of the object, its arguments still to be written.
    nonisolated func message(
        _ member: String,
        of interface: String = TestObject.interfaceName,
        at path: ObjectPath = TestObject.path
    ) -> Message {
        Message.call(to: TestServer.name, path, interface, member)
    }

    @discardableResult
    func call<each Value: BusValue>(
        _ member: String,
        of interface: String = TestObject.interfaceName,
        at path: ObjectPath = TestObject.path,
        _ arguments: repeat each Value
    ) async throws(BusError) -> Message {
        let message = message(member, of: interface, at: path)
        message.append(repeat each arguments)
        return try await client.call(message, timeout: Patience.limit)
    }
}
