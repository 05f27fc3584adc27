import DBus

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
