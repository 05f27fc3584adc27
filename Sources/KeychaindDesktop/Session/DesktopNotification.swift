package import KeychaindDBus

/// A desktop notification (Desktop Notifications Specification).
package struct DesktopNotification {
    private static let service = "org.freedesktop.Notifications"

    private let summary: String
    private let body: String

    package init(summary: String, body: String) {
        self.summary = summary
        self.body = body
    }

    /// Sends the notification, without a reply and without activating a service.
    @BusActor
    package func send(on connection: Connection) {
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
