import KeychaindDBus
import KeychaindTestSupport

/// An object with a method for every way to answer a call.
@BusActor
final class TestObject {
    nonisolated static let interfaceName = "org.example.Test"
    nonisolated static let path = ObjectPath(unchecked: "/org/example/object")

    var label = "first"
    var numbers: [UInt64] = [1, 2, 3]
    var names = ["name"]
    /// The arguments of `Record`.
    let recorded = Recorder<String>()
    /// The calls of `Hold` that have started.
    let held = Recorder<String>()
    /// The connection on which `Take` asks who calls.
    weak var connection: Connection?
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// The action of `Act`.
    var action: () -> Void = {}

    func hold(_ name: String) async {
        await withCheckedContinuation { continuation in
            waiting.append(continuation)
            held.record(name)
        }
    }

    /// Resumes all held calls.
    func release() {
        for continuation in waiting {
            continuation.resume()
        }
        waiting.removeAll()
    }

    static let kind = ObjectKind<TestObject>([main, echo]) { _ in ["first", "second"] }

    static let main = Interface<TestObject>(
        interfaceName,
        methods: [
            Method("Record", in: [Parameter("text", String.self)]) { (object, call) throws(BusError) in
                object.recorded.record(try call.arguments(String.self))
                call.reply()
            },
            Method("Fail") { (_, _) throws(BusError) in throw BusError(.accessDenied, "as you wish") },
            Method("FailLater", waits: true) { (_, _) async throws(BusError) in
                throw BusError(.limitsExceeded, "as you wish")
            },
            Method("Forget") { (_, _) throws(BusError) in },
            Method("ForgetLater", waits: true) { (object, _) async throws(BusError) in await object.hold("forget") },
            Method("AnswerTwice", out: [Parameter("text", String.self)]) { (_, call) throws(BusError) in
                call.reply(with: "first")
                call.reply(with: "second")
                throw BusError(.failed, "third")
            },
            Method("Hold", waits: true, in: [Parameter("name", String.self)], out: [Parameter("name", String.self)]) {
                (object, call) async throws(BusError) in
                let name = try call.arguments(String.self)
                await object.hold(name)
                call.reply(with: name)
            },
            Method("Take", waits: true, in: [Parameter("file", FileDescriptor.self)]) {
                (object, call) async throws(BusError) in
                guard let connection = object.connection else { throw BusError(.failed, "there is no connection") }
                _ = try await connection.credentials(of: call.peer.name)
                _ = try call.arguments(FileDescriptor.self)
                await object.hold("file")
                call.reply()
            },
            Method("HoldBytes", waits: true, in: [Parameter("bytes", ByteArray.self)]) {
                (object, call) async throws(BusError) in
                await object.hold("bytes")
                call.reply { try? call.arguments(ByteArray.self).write(to: &$0) }
            },
            Method("Sender", out: [Parameter("name", String.self)]) { (_, call) throws(BusError) in
                call.reply(with: call.peer.name)
            },
            Method("Act") { (object, call) throws(BusError) in
                call.reply()
                object.action()
            },
            Method("Reveal", in: [Parameter("size", UInt32.self)], out: [Parameter("bytes", ByteArray.self)]) {
                (_, call) throws(BusError) in
                let size = try call.arguments(UInt32.self)
                let bytes = ByteArray([UInt8](repeating: 0x5a, count: Int(size)))
                call.reply { bytes.write(to: &$0) }
            },
        ],
        properties: [
            Property("Label", String.self, get: { $0.label }) { (object, value) throws(BusError) in
                guard value.count < 10 else { throw BusError(.invalidArguments, "too long") }
                object.label = value
            },
            Property("Numbers", [UInt64].self, get: { $0.numbers }),
            Property("Names", [String].self, get: { $0.names }) { (object, value) throws(BusError) in
                object.names = value
            },
            Property("Slow", String.self, changes: .untold, get: { $0.label }) {
                (object, value) async throws(BusError) in
                await object.hold(value)
                object.label = value
            },
        ],
        signals: [SignalDeclaration("Changed", [Parameter("path", ObjectPath.self)]), SignalDeclaration("Gone")]
    )

    static let echo = Interface<TestObject>(
        "org.example.Echo",
        methods: [
            echo(Bool.self), echo(UInt8.self), echo(Int32.self), echo(UInt32.self), echo(UInt64.self),
            echo(String.self), echo(ObjectPath.self), echo(ByteArray.self), echo(Variant.self),
            echo([String].self), echo([ObjectPath].self), echo([UInt64].self), echo([ByteArray].self),
            echo([[String]].self), echo([String: String].self), echo([String: Variant].self),
            echo([String: [String]].self), echo([UInt32: [String: String]].self), echo(WireSecret.self),
            echo([ObjectPath: WireSecret].self), echo([[String: Variant]].self),
        ]
    )

    /// A method that echoes its argument; its name encodes the signature in character codes.
    private static func echo<Value: BusValue>(_ type: Value.Type) -> Method<TestObject> {
        Method(
            echoName(of: type),
            in: [Parameter("value", type)],
            out: [Parameter("value", type)]
        ) { (_, call) throws(BusError) in
            let value = try call.arguments(type)
            call.reply(with: value)
        }
    }

    nonisolated static func echoName<Value: BusValue>(of type: Value.Type) -> String {
        "Echo" + type.signature.utf8.map { "_\($0)" }.joined()
    }
}

extension Method<TestObject> {
    /// Creates a suspending method with the name first, like the other initializers.
    fileprivate init(
        _ name: String,
        waits: Bool,
        in inputs: [Parameter] = [],
        out outputs: [Parameter] = [],
        _ body: @escaping SuspendingBody
    ) {
        self.init(suspending: name, in: inputs, out: outputs, body)
    }
}
