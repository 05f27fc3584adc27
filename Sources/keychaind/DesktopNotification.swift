import DBus

/// A message to the person at the desktop (Desktop Notifications Specification), if something shows such messages now.
struct DesktopNotification {
    private static let service = "org.freedesktop.Notifications"

    let summary: String
    let body: String

    /// Sends it; nobody waits for it, and nothing is started for it.
    @BusActor
    func send(on connection: Connection) {
        let path = ObjectPath(unchecked: "/org/freedesktop/Notifications")
        let message = Message.call(to: Self.service, path, Self.service, "Notify")
        message.forbidActivation()
        message.expectNoReply()
        message.append(
            "keychaind",
            UInt32(0),
            "dialog-password",
            summary,
            body,
            [String](),
            [String: Variant](),
            Int32(-1)
        )
        connection.send(message)
    }
}
