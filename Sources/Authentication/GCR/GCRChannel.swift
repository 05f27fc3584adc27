import DBus
import Glibc

/// The wire to the prompter for one dialog: the calls to it, and the object that it calls back.
@BusActor
final class GCRChannel {
    /// What the prompter has told.
    enum Event {
        /// It waits for the first question, or has an answer to the last.
        case ready(reply: String, exchange: GCRExchangeMessage?)
        /// It has taken the dialog away.
        case done
        /// It has left the bus.
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
        connection.export(GCRCallback.kind.target(self), at: path, to: peer)
        callback.onVanish = { [weak self] in self?.vanish() }
    }

    /// The unique name of the prompter.
    var peer: String { callback.peer }

    // MARK: Calls

    /// Asks for a dialog; the prompter says when it is its turn.
    func begin(timeout: Duration) async throws(BusError) {
        _ = try await connection.call(makeCall("BeginPrompting"), timeout: timeout)
    }

    /// Asks a question, when the prompter is ready for one.
    func perform(_ request: PromptRequest, exchange: GCRExchangeMessage, timeout: Duration) async throws(BusError) {
        let message = makeCall("PerformPrompt")
        message.write { writer in
            GCRProperties.kind(of: request.question).write(to: &writer)
            GCRProperties(request).write(to: &writer)
            exchange.text.write(to: &writer)
        }
        _ = try await connection.call(message, timeout: timeout)
    }

    /// Withdraws the dialog; there are no events from here on.
    func stop() {
        onEvent = nil
        callback.stop(by: makeCall("StopPrompting"))
    }

    private func makeCall(_ member: String) -> Message {
        let message = Message.call(to: callback.peer, GCRPrompter.path, GCRPrompter.interface, member)
        message.append(callback.path)
        return message
    }

    // MARK: What the prompter tells

    /// The prompter is ready or has an answer; its call has been answered already.
    func receiveReady(reply: String, exchange: GCRExchangeMessage?) {
        onEvent?(.ready(reply: reply, exchange: exchange))
    }

    /// The prompter has taken the dialog away, of its own or because it was told to.
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

/// The interface that the prompter calls back, `org.gnome.keyring.internal.Prompter.Callback`.
enum GCRCallback {
    /// Serves a channel's events.
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
        var reader = call.message.makeReader()
        let reply = try String(from: &reader)
        // How the dialog was left, such as a box that was ticked: no dialog here has such a thing.
        reader.skip()
        let exchange = try reader.withString { text in
            GCRExchangeMessage(parsing: UnsafeRawBufferPointer(start: text, count: strlen(text)))
        }
        call.message.wipeStrings()
        // The prompter takes no question before it has this answer.
        call.reply()
        channel.receiveReady(reply: reply, exchange: exchange)
    }
}

/// A request as the properties of a GCR prompt, an `a{sv}`.
struct GCRProperties {
    private let texts: KeyValuePairs<String, String>
    private let isNewPassword: Bool

    /// Translates a request.
    init(_ request: PromptRequest) {
        texts = [
            "title": request.title,
            "message": request.message,
            "description": request.story,
            "warning": request.warning,
            // No box to tick.
            "choice-label": "",
            "caller-window": request.windowID,
            "continue-label": GCRProperties.continueLabel(request),
            "cancel-label": request.cancelLabel,
        ]
        isNewPassword = request.question == .newPassword
    }

    /// What the prompter calls that kind of question.
    static func kind(of question: PromptRequest.Question) -> String {
        switch question {
        case .password, .newPassword: "password"
        case .confirmation, .waiting: "confirm"
        }
    }

    /// Appends the dictionary; an empty label is left out, so that the prompter uses its own.
    func write(to writer: inout Writer) {
        writer.writeArray(of: "{sv}") { writer in
            for (name, text) in texts where !(text.isEmpty && (name == "continue-label" || name == "cancel-label")) {
                write(name, text, to: &writer)
            }
            write("password-new", isNewPassword, to: &writer)
        }
    }

    /// The text of the first button; while something else is waited for, that one is for the fallback, or, since it
    /// cannot be hidden, for nothing.
    private static func continueLabel(_ request: PromptRequest) -> String {
        guard request.question == .waiting else { return request.continueLabel }
        return request.fallbackLabel.isEmpty ? "Waiting…" : request.fallbackLabel
    }

    private func write(_ name: String, _ value: some BusValue, to writer: inout Writer) {
        writer.writeEntry { writer in
            name.write(to: &writer)
            Variant.write(value, to: &writer)
        }
    }
}
