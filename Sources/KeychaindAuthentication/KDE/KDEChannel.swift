import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage

/// The D-Bus side of one KDE dialog: calls and signals to the prompter, and the callback object.
@BusActor
final class KDEChannel {
    enum Event {
        /// A password, to be read from the descriptor.
        case accepted(FileDescriptor)
        case rejected
        case dismissed
        case vanished
    }

    /// Receives all events until ``stop()``.
    var onEvent: (@BusActor (Event) -> Void)?

    private let connection: Connection
    private let callback: PrompterCallback

    /// Exports the callback object to this prompter alone.
    ///
    /// - Parameter path: unique on this connection.
    init(_ connection: Connection, to peer: String, path: ObjectPath) {
        self.connection = connection
        callback = PrompterCallback(connection, of: peer, at: path)
        connection.export(KDERequest.kind.target(self), at: path, to: peer, takesDescriptors: true)
        callback.onVanish = { [weak self] in self?.receiveEnd(.vanished) }
    }

    var peer: String { callback.peer }

    /// Shows the dialog with the prompter's own texts.
    func begin(_ request: PromptRequest, timeout: Duration) async throws(BusError) {
        let member = request.question == .newPassword ? "CreateCollectionPrompt" : "UnlockCollectionPrompt"
        let message = Message.call(to: callback.peer, KDEPrompter.path, KDEPrompter.interface, member)
        // The name is the only free text, so the caller is appended.
        let name = request.subject.isEmpty ? request.message : request.subject
        // Translators: a question or the name of a keychain, and a program
        let subject = request.caller.isEmpty ? name : request.string(Text("\(name) – for \(request.caller)"))
        // The Secret Service API has no activation token.
        message.append(callback.path, request.windowID, "", PromptText.withoutTags(subject))
        _ = try await connection.call(message, timeout: timeout)
    }

    /// Shows the dialog again with a reason.
    func retry(_ reason: String) {
        let message = makeSignal("Retry")
        message.append(reason)
        connection.send(message)
    }

    /// Closes the dialog; no events follow.
    func stop() {
        onEvent = nil
        callback.stop(by: makeSignal("Dismiss"))
    }

    private func makeSignal(_ member: String) -> Message {
        Message.signal(callback.path, KDERequest.interface, member, to: callback.peer)
    }

    // MARK: Callbacks

    /// Called after the reply; the prompter keeps the dialog.
    func receiveAccepted(_ descriptor: FileDescriptor) {
        onEvent?(.accepted(descriptor))
    }

    /// The prompter closes the dialog itself.
    func receiveRejected() {
        onEvent?(.rejected)
    }

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

/// The callback interface, `org.kde.secretprompter.request`.
enum KDERequest {
    static let interface = "org.kde.secretprompter.request"

    /// The prompter's next step: close the dialog, or keep it for ``KDEChannel/retry(_:)``.
    enum Action: Int32 {
        case dismiss = 0
        case keep = 1
    }

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
                    // The prompter waits for this reply; the password is checked later.
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
