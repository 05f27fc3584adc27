package import KeychaindDBus

/// A desktop's service for notifications.
@BusActor
package final class FakeNotifications {
    /// A notification as it arrived, with its number.
    package struct Notification: Hashable, Sendable {
        package let number: UInt32
        package let replaced: UInt32
        package let summary: String
        package let body: String
        /// The labels of the actions, by key.
        package let actions: [String: String]
    }

    package nonisolated let shown = Recorder<Notification>()
    /// The texts of the notifications.
    package nonisolated let bodies = Recorder<String>()
    /// The numbers that the sender of the notification has received.
    package nonisolated let acknowledged = Recorder<UInt32>()
    /// The numbers of those that were taken back.
    package nonisolated let withdrawn = Recorder<UInt32>()
    /// What the answers to notifications wait for.
    package var hold: Promise<Void>?
    private let connection: Connection
    private let capabilities: [String]
    private var count: UInt32 = 0

    private static let name = "org.freedesktop.Notifications"
    private static let path = ObjectPath(unchecked: "/org/freedesktop/Notifications")

    private static let kind = ObjectKind<FakeNotifications>([
        Interface(
            name,
            methods: [
                Method(
                    suspending: "Notify",
                    in: [
                        Parameter("app", String.self), Parameter("id", UInt32.self), Parameter("icon", String.self),
                        Parameter("summary", String.self), Parameter("body", String.self),
                        Parameter("actions", [String].self), Parameter("hints", [String: Variant].self),
                        Parameter("timeout", Int32.self),
                    ],
                    out: [Parameter("id", UInt32.self)]
                ) { (service, call) async throws(BusError) in
                    let number = try service.receive(call)
                    await service.hold?.wait()
                    call.reply(with: number)
                    service.acknowledge(number, to: call.message.sender)
                },
                Method("GetCapabilities", out: [Parameter("capabilities", [String].self)]) { service, call in
                    call.reply(with: service.capabilities)
                },
                Method("CloseNotification", in: [Parameter("id", UInt32.self)]) { (service, call) throws(BusError) in
                    service.withdrawn.record(try call.arguments(UInt32.self))
                    call.reply()
                },
            ]
        )
    ])

    /// Takes the name on a bus, until another one does.
    package init(on bus: PrivateBus, capabilities: [String] = []) throws {
        self.capabilities = capabilities
        connection = try bus.connect()
        connection.server = ObjectServer(on: connection, limit: 100) { [weak self] (call) throws(BusError) in
            guard let self else { throw BusError(.unknownObject, "the service has ended") }
            return FakeNotifications.kind.target(self)
        }
        try connection.takeName(Self.name, options: [.allowReplacement, .replaceExisting])
    }

    isolated deinit {
        crash()
    }

    /// Disconnects.
    package func crash() {
        connection.close()
    }

    private func receive(_ call: MethodCall) throws(BusError) -> UInt32 {
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
        count += 1
        let keys = stride(from: 0, to: arguments.5.count - 1, by: 2)
        let notification = Notification(
            number: arguments.1 == 0 ? count : arguments.1,
            replaced: arguments.1,
            summary: arguments.3,
            body: arguments.4,
            actions: Dictionary(uniqueKeysWithValues: keys.map { (arguments.5[$0], arguments.5[$0 + 1]) })
        )
        bodies.record(notification.body)
        shown.record(notification)
        return notification.number
    }

    /// Waits for the sender to answer a call that follows the number.
    private func acknowledge(_ number: UInt32, to sender: String) {
        let path = ObjectPath(unchecked: "/org/freedesktop/secrets")
        let ping = Message.call(to: sender, path, "org.freedesktop.DBus.Peer", "Ping")
        BusActor.start { [connection, acknowledged] in
            _ = try? await connection.call(ping)
            acknowledged.record(number)
        }
    }

    /// Presses a button of a notification, once its sender knows the number.
    package func press(_ label: String, of notification: Notification) async throws {
        _ = try await acknowledged.first("the end of the notification's call") { $0 == notification.number }
        pressAtOnce(label, of: notification)
    }

    /// Presses a button of a notification, whether or not its sender knows the number.
    package func pressAtOnce(_ label: String, of notification: Notification) {
        guard let key = notification.actions.first(where: { $0.value == label })?.key else { return }
        connection.emit(Self.path, Self.name, "ActionInvoked") { writer in
            notification.number.write(to: &writer)
            key.write(to: &writer)
        }
    }

    /// Closes a notification, as a person does.
    package func close(_ notification: Notification) {
        connection.emit(Self.path, Self.name, "NotificationClosed") { writer in
            notification.number.write(to: &writer)
            UInt32(2).write(to: &writer)
        }
    }
}
