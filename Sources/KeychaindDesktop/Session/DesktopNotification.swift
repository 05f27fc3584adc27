package import KeychaindDBus
package import KeychaindLanguage

/// A desktop notification (Desktop Notifications Specification).
package struct DesktopNotification {
    static let service = "org.freedesktop.Notifications"
    static let path = ObjectPath(unchecked: "/org/freedesktop/Notifications")

    /// A button of a notification.
    package struct Action {
        package let label: Text
        package let perform: @BusActor () -> Void

        package init(_ label: Text, perform: @escaping @BusActor () -> Void) {
            self.label = label
            self.perform = perform
        }
    }

    private let summary: Text
    private let body: Text
    let actions: [Action]

    /// - Parameter actions: left out by a desktop that shows none, so the body names another way.
    package init(summary: Text, body: Text, actions: [Action] = []) {
        self.summary = summary
        self.body = body
        self.actions = actions
    }

    /// Sends the notification if there is a service, without a reply.
    @BusActor
    package func send(on connection: Connection) {
        BusActor.start {
            guard let server = try? await connection.service(Self.service) else { return }
            let message = call(of: server)
            message.expectNoReply()
            connection.send(message)
        }
    }

    /// The call of a service.
    ///
    /// - Parameters:
    ///   - server: its unique name.
    ///   - replaced: the number of the notification that this one replaces; 0 for none.
    ///   - actions: the actions to show, by their keys.
    func call(
        of server: String,
        replacing replaced: UInt32 = 0,
        with actions: [(key: String, action: Action)] = []
    ) -> Message {
        let message = Message.call(to: server, Self.path, Self.service, "Notify")
        message.append(
            "keychaind",
            replaced,
            "dialog-password",
            string(summary),
            string(body),
            actions.flatMap { [$0.key, string($0.action.label)] },
            [String: Variant](),
            Int32(-1)
        )
        return message
    }

    /// A text in the language of keychaind, as no program asks.
    ///
    /// A name in it cannot be markup.
    private func string(_ text: Text) -> String {
        PromptText.text(PromptText.withoutMarkup(Language.ofProcess.string(text, isolating: true)))
    }
}
