import Glibc
import KeychaindDBus
import KeychaindTestSupport

/// A logind whose session is locked, and which requests something of it before it says so.
@BusActor
final class RequestingLogind {
    private nonisolated static let session = ObjectPath(unchecked: "/org/freedesktop/login1/session/c1")
    private nonisolated static let interface = "org.freedesktop.login1.Session"

    private let connection: Connection
    private let request: String

    /// - Parameter request: `Lock` or `Unlock`.
    init(on bus: PrivateBus, _ request: String) throws {
        self.request = request
        connection = try bus.connect()
        connection.server = ObjectServer(on: connection, limit: 16) { [weak self] (_) throws(BusError) in
            guard let self else { throw BusError(.failed, "the test has ended") }
            return RequestingLogind.kind.target(self)
        }
        _ = try connection.requestName(FakeLogind.busName)
    }

    func end() {
        connection.close()
    }

    private func sendRequest() {
        connection.send(.signal(Self.session, Self.interface, request))
    }

    /// Manager and session in one.
    private static let kind = ObjectKind<RequestingLogind>([
        Interface(
            "org.freedesktop.login1.Manager",
            methods: [
                Method(
                    "GetSession",
                    in: [Parameter("session_id", String.self)],
                    out: [Parameter("object_path", ObjectPath.self)]
                ) { _, call in
                    call.reply(with: session)
                }
            ]
        ),
        Interface(
            interface,
            properties: [
                Property("User", SessionOwner.self) { _ in SessionOwner() },
                Property("Class", String.self) { _ in "user" },
                Property("Id", String.self) { _ in "c1" },
                Property("State", String.self) { _ in "active" },
                Property("LockedHint", Bool.self) { logind in
                    logind.sendRequest()
                    return true
                },
                Property("IdleHint", Bool.self) { _ in false },
            ]
        ),
    ])
}

/// The property `User` of a session: the user of the tests, and an object.
private struct SessionOwner: WritableValue {
    static var signature: String { "(uo)" }

    func write(to writer: inout Writer) {
        writer.writeStructure { writer in
            getuid().write(to: &writer)
            ObjectPath.root.write(to: &writer)
        }
    }
}
