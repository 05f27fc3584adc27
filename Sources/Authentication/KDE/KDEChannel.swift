import DBus
import Desktop

/// The wire to KDE's prompter for one dialog: the calls to it, and the object that it calls back and hears.
@BusActor
final class KDEChannel {
    /// What the prompter has told.
    enum Event {
        /// A password was entered; it can be read from the descriptor.
        case accepted(FileDescriptor)
        /// The person will not give one.
        case rejected
        /// The dialog is gone.
        case dismissed
        /// The prompter has left the bus.
        case vanished
    }

    /// Hears all events until ``stop()``.
    var onEvent: (@BusActor (Event) -> Void)?

    private let connection: Connection
    private let callback: PrompterCallback

    /// Exports the callback object, for this prompter alone.
    ///
    /// - Parameters:
    ///   - peer: the unique name of the prompter.
    ///   - path: a path that no other dialog of this connection has.
    init(_ connection: Connection, to peer: String, path: ObjectPath) {
        self.connection = connection
        callback = PrompterCallback(connection, of: peer, at: path)
        connection.export(KDERequest.kind.target(self), at: path, to: peer, takesDescriptors: true)
        callback.onVanish = { [weak self] in self?.receiveEnd(.vanished) }
    }

    /// The unique name of the prompter.
    var peer: String { callback.peer }

    /// Shows the dialog; which words it has is the prompter's business.
    func begin(_ request: PromptRequest, timeout: Duration) async throws(BusError) {
        let member = request.question == .newPassword ? "CreateCollectionPrompt" : "UnlockCollectionPrompt"
        let message = Message.call(to: callback.peer, KDEPrompter.path, KDEPrompter.interface, member)
        // All other words are the prompter's: who asks is told where the name is.
        let name = request.subject.isEmpty ? request.message : request.subject
        let subject = request.caller.isEmpty ? name : "\(name) – for \(request.caller)"
        // No activation token: clients of the Secret Service have no way to give one.
        message.append(callback.path, request.windowID, "", PromptText.withoutTags(subject))
        _ = try await connection.call(message, timeout: timeout)
    }

    /// Shows the dialog again, with a reason why.
    func retry(_ reason: String) {
        let message = makeSignal("Retry")
        message.append(reason)
        connection.send(message)
    }

    /// Takes the dialog away; there are no events from here on.
    func stop() {
        onEvent = nil
        callback.stop(by: makeSignal("Dismiss"))
    }

    private func makeSignal(_ member: String) -> Message {
        Message.signal(callback.path, KDERequest.interface, member, to: callback.peer)
    }

    // MARK: What the prompter tells

    /// A password was entered; the prompter's call has been answered already, and it keeps the dialog.
    func receiveAccepted(_ descriptor: FileDescriptor) {
        onEvent?(.accepted(descriptor))
    }

    /// The person has cancelled; the prompter takes the dialog away.
    func receiveRejected() {
        onEvent?(.rejected)
    }

    /// The dialog is gone.
    func receiveDismissed() {
        receiveEnd(.dismissed)
    }

    private func receiveEnd(_ event: Event) {
        let action = onEvent
        close()
        action?(event)
    }

    private func close() {
        onEvent = nil
        callback.close()
    }
}

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
                    // Whether it is right is not known yet, and the prompter waits for this answer before anything
                    // else.
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
