package import KeychaindDBus

/// A desktop's service for notifications.
@BusActor
package final class FakeNotifications {
    /// The texts of the notifications.
    package nonisolated let bodies = Recorder<String>()
    private let connection: Connection

    private static let name = "org.freedesktop.Notifications"

    private static let kind = ObjectKind<FakeNotifications>([
        Interface(
            name,
            methods: [
                Method(
                    "Notify",
                    in: [
                        Parameter("app", String.self), Parameter("id", UInt32.self), Parameter("icon", String.self),
                        Parameter("summary", String.self), Parameter("body", String.self),
                        Parameter("actions", [String].self), Parameter("hints", [String: Variant].self),
                        Parameter("timeout", Int32.self),
                    ],
                    out: [Parameter("id", UInt32.self)]
                ) { (service, call) throws(BusError) in
                    let arguments = try call.arguments(
                        String.self,
                        UInt32.self,
                        String.self,
                        String.self,
                        String.self,
                        [String].self,
                        [String: Variant].self,
                        Int32.self
                    )
                    service.bodies.record(arguments.4)
                    call.reply(with: UInt32(1))
                }
            ]
        )
    ])

    /// Takes the name on a bus.
    package init(on bus: PrivateBus) throws {
        connection = try bus.connect()
        connection.server = ObjectServer(on: connection, limit: 100) { [weak self] (call) throws(BusError) in
            guard let self else { throw BusError(.unknownObject, "the service has ended") }
            return FakeNotifications.kind.target(self)
        }
        _ = try connection.requestName(Self.name)
    }

    isolated deinit {
        connection.close()
    }
}
