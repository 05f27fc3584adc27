import KeychaindDBus
import KeychaindLanguage

/// The D-Bus side of one GCR dialog: calls to the prompter and the callback object.
@BusActor
final class GCRChannel {
    enum Event {
        /// The prompter waits for the first question or answers the last one.
        case ready(GCRReady)
        case done
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
        connection.export(GCRCallback.kind.target(self), at: path, to: peer)
        callback.onVanish = { [weak self] in self?.vanish() }
    }

    var peer: String { callback.peer }

    // MARK: Calls

    /// Requests a dialog; the prompter calls back in its turn.
    func begin(timeout: Duration) async throws(BusError) {
        _ = try await connection.call(makeCall("BeginPrompting"), timeout: timeout)
    }

    /// Shows a question.
    ///
    /// - Parameter isChosen: the state of its checkbox.
    func perform(
        _ request: PromptRequest,
        isChosen: Bool,
        exchange: GCRExchangeMessage,
        timeout: Duration
    ) async throws(BusError) {
        let message = makeCall("PerformPrompt")
        message.write { writer in
            GCRProperties.kind(of: request.question).write(to: &writer)
            GCRProperties(request, isChosen: isChosen).write(to: &writer)
            exchange.text.write(to: &writer)
        }
        _ = try await connection.call(message, timeout: timeout)
    }

    /// Closes the dialog; no events follow.
    func stop() {
        onEvent = nil
        callback.stop(by: makeCall("StopPrompting"))
    }

    private func makeCall(_ member: String) -> Message {
        let message = Message.call(to: callback.peer, GCRPrompter.path, GCRPrompter.interface, member)
        message.append(callback.path)
        return message
    }

    // MARK: Callbacks

    /// Called after the reply.
    func receiveReady(_ ready: GCRReady) {
        onEvent?(.ready(ready))
    }

    /// Handles the end of a dialog, requested or not.
    func receiveDone() {
        let action = onEvent
        close()
        action?(.done)
    }

    private func vanish() {
        let action = onEvent
        close()
        action?(.vanished)
    }

    private func close() {
        onEvent = nil
        callback.close()
    }
}

/// The callback interface, `org.gnome.keyring.internal.Prompter.Callback`.
enum GCRCallback {
    @BusActor static let kind = ObjectKind<GCRChannel>([
        Interface(
            "org.gnome.keyring.internal.Prompter.Callback",
            methods: [
                Method(
                    "PromptReady",
                    in: [
                        Parameter("reply", String.self),
                        Parameter("properties", [String: Variant].self),
                        Parameter("exchange", String.self),
                    ],
                    receiveReady
                ),
                Method("PromptDone") { channel, call in
                    call.reply()
                    channel.receiveDone()
                },
            ]
        )
    ])

    private static let receiveReady: Method<GCRChannel>.ImmediateBody = { (channel, call) throws(BusError) in
        let ready = try GCRReady(from: call.message)
        call.message.wipeStrings()
        // The prompter accepts no question before this reply.
        call.reply()
        channel.receiveReady(ready)
    }
}

/// A request as properties of a GCR prompt, `a{sv}`.
struct GCRProperties {
    private let texts: KeyValuePairs<String, String>
    private let flags: KeyValuePairs<String, Bool>

    init(_ request: PromptRequest, isChosen: Bool) {
        texts = [
            "title": request.title,
            "message": request.message,
            "description": GCRProperties.description(request),
            "warning": request.warning,
            "choice-label": request.choice?.label ?? "",
            "caller-window": request.windowID,
            "continue-label": GCRProperties.continueLabel(request),
            "cancel-label": request.cancelLabel,
        ]
        flags = ["password-new": request.question == .newPassword, "choice-chosen": isChosen]
    }

    private static func description(_ request: PromptRequest) -> String {
        // GNOME Shell's fields have no labels.
        let isNew = request.question == .newPassword
        let fields = isNew ? Text("Type it twice, once in each of the two fields.") : .empty
        return [request.description, request.string(fields), request.choice?.explanation ?? "", request.markedDetails]
            .filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    static func kind(of question: PromptRequest.Question) -> String {
        switch question {
        case .password, .newPassword: "password"
        case .confirmation, .waiting: "confirm"
        }
    }

    /// Writes the dictionary without empty button labels, so that the prompter uses its own.
    func write(to writer: inout Writer) {
        writer.writeArray(of: "{sv}") { writer in
            for (name, text) in texts where !(text.isEmpty && (name == "continue-label" || name == "cancel-label")) {
                write(name, text, to: &writer)
            }
            for (name, flag) in flags { write(name, flag, to: &writer) }
        }
    }

    /// The label of the first button, which cannot be hidden.
    ///
    /// In a waiting dialog it selects the fallback; without a fallback it does nothing.
    private static func continueLabel(_ request: PromptRequest) -> String {
        guard request.question == .waiting else { return request.continueLabel }
        return request.fallbackLabel.isEmpty ? request.string(Text("Waiting…")) : request.fallbackLabel
    }

    private func write(_ name: String, _ value: some BusValue, to writer: inout Writer) {
        writer.writeEntry { writer in
            name.write(to: &writer)
            Variant.write(value, to: &writer)
        }
    }
}
