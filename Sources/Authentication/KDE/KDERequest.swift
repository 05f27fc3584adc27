import DBus

/// The interface that the prompter calls back, `org.kde.secretprompter.request`.
enum KDERequest {
    static let interface = "org.kde.secretprompter.request"

    /// What the prompter does after an answer: takes the dialog away, or keeps it for ``KDEChannel/retry(_:)``.
    enum Action: Int32 {
        case dismiss = 0
        case keep = 1
    }

    /// Serves a channel's events.
    @BusActor static let kind = ObjectKind<KDEChannel>([
        Interface(
            interface,
            methods: [
                Method(
                    "Accepted",
                    in: [Parameter("fd", FileDescriptor.self)],
                    out: [Parameter("action", Int32.self)]
                ) { (channel, call) throws(BusError) in
                    let descriptor = try call.arguments(FileDescriptor.self)
                    // Whether it is right is not known yet, and the prompter waits for this answer before anything else.
                    call.reply(with: Action.keep.rawValue)
                    channel.receiveAccepted(descriptor)
                },
                Method("Rejected", out: [Parameter("action", Int32.self)]) { channel, call in
                    call.reply(with: Action.dismiss.rawValue)
                    channel.receiveRejected()
                },
                Method("Dismissed") { channel, call in
                    call.reply()
                    channel.receiveDismissed()
                },
            ],
            signals: [
                SignalDeclaration("Retry", [Parameter("reason", String.self)]),
                SignalDeclaration("Dismiss"),
            ]
        )
    ])
}
