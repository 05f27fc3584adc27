import KeychaindDBus
import KeychaindTestSupport
import Testing

/// A private bus with a ``TestObject`` and a client.
@BusActor
final class TestServer {
    nonisolated static let name = "org.example.Server"

    nonisolated let bus: PrivateBus
    let connection: Connection
    let client: Connection
    let object = TestObject()
    let peers: PeerTable<TestPeer>

    static func start(limit: Int = 100, byteLimit: Int = 32 << 20) async throws -> TestServer {
        try TestServer(on: await PrivateBus(), limit: limit, byteLimit: byteLimit)
    }

    init(on bus: PrivateBus, limit: Int, byteLimit: Int) throws {
        self.bus = bus
        connection = try bus.connect()
        client = try bus.connect()
        let object = object
        object.connection = connection
        let peers = PeerTable { TestPeer($0, WaitingCalls(limit: limit, byteLimit: byteLimit)) }
        self.peers = peers
        connection.server = ObjectServer(connection) {
            peers[$0]
        } dispatch: { (call) throws(BusError) in
            guard call.path == TestObject.path.rawValue else {
                throw BusError(.unknownObject, "nothing is at \(call.path)")
            }
            return try TestObject.kind.target(object).dispatch(call)
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

    /// A call of the object without arguments.
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

/// A connection that may take its turns with others.
@BusActor
final class TestPeer: Peer {
    nonisolated let name: String
    private var waitingCalls: WaitingCalls
    let unsent = UnsentAnswers()
    /// What it has in common with others.
    var program: AnyObject?
    private(set) var leaves = 0

    init(_ name: String, _ waitingCalls: WaitingCalls) {
        self.name = name
        self.waitingCalls = waitingCalls
    }

    var turnOwner: AnyObject { program ?? self }

    func beginWaiting(of size: Int) throws(BusError) { try waitingCalls.begin(of: size) }

    func endWaiting(of size: Int) { waitingCalls.end(of: size) }

    func leave() { leaves += 1 }
}

/// Starts the event loop before tests that are isolated to ``BusActor``.
struct LoopTrait: SuiteTrait, TestTrait {
    var isRecursive: Bool { true }

    func prepare(for test: Test) async throws {
        EventLoop.startThread()
    }
}

extension Trait where Self == LoopTrait {
    static var onLoop: LoopTrait { LoopTrait() }
}

/// Writes and reads values without a bus.
enum Arguments {
    /// Writes a value and reads it back.
    static func roundTrip<Value: BusValue>(_ value: Value) throws(BusError) -> Value {
        try message(value).read(Value.self)
    }

    /// A message with these arguments.
    static func message<each Value: BusValue>(_ values: repeat each Value) -> Message {
        let message = Message.signal(.root, "org.example.Test", "Arguments")
        message.append(repeat each values)
        return message
    }
}

extension TestServer {
    /// Runs a closure while the server handles nothing; what it sends has arrived when the server goes on.
    func whileBusy(_ body: @escaping @BusActor () throws -> Void) async throws {
        let outcome = Recorder<Result<Void, any Error>>()
        object.action = { outcome.record(Result { try body() }) }
        // The closure may suspend the bus, so that no answer comes.
        client.send(message("Act"))
        try await outcome.first("the closure").get()
    }

    /// A call that the object records.
    nonisolated func recording(_ text: String) -> Message {
        let message = message("Record")
        message.append(text)
        return message
    }
}
