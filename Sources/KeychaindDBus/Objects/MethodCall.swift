/// A received method call, to be answered once.
@BusActor
package final class MethodCall {
    private enum State {
        case open
        case answered
    }

    package let message: Message
    package let peer: any Peer
    private let connection: Connection
    private var state = State.open

    init(_ message: Message, of peer: any Peer, on connection: Connection) {
        self.message = message
        self.peer = peer
        self.connection = connection
    }

    package var member: String { message.member ?? "" }

    /// The interface; nil if the caller omitted it.
    package var interface: String? { message.interface }

    package var path: String { message.path ?? "/" }

    package func withPath<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        message.withPath(body)
    }

    package func arguments<each Value: BusValue>(
        _ types: repeat (each Value).Type
    ) throws(BusError) -> (repeat each Value) {
        try message.read(repeat each types)
    }

    /// Replies with the values that the closure writes.
    ///
    /// They may be secret: the reply is overwritten once it is sent.
    package func reply(_ values: (inout Writer) -> Void = { _ in }) {
        guard beginAnswer() else { return }
        connection.answer(self, values)
    }

    /// Begins a reply that takes several turns of the loop to write, for ``reply(written:)``.
    package func beginReply() -> Writer {
        connection.beginAnswer(self)
    }

    /// Sends a reply of ``beginReply()``.
    package func reply(written writer: consuming Writer) {
        guard beginAnswer() else { return }
        connection.answer(self, written: writer)
    }

    package func reply<each Value: WritableValue>(with values: repeat each Value) {
        reply { writer in
            repeat (each values).write(to: &writer)
        }
    }

    package func fail(_ error: BusError) {
        guard case .open = state else { return }
        // The handler may not have read a secret among the arguments, and libdbus caches used messages.
        message.wipeByteArrays()
        guard beginAnswer() else { return }
        connection.answer(self, failing: error.name) { String(error.sentMessage).write(to: &$0) }
    }

    func noteSize() {
        connection.server?.noteSize(of: message)
    }

    /// Fails a call whose handler did not reply, so that no caller waits forever.
    func finish() {
        guard case .open = state else { return }
        fail(BusError(.failed, "\(member) ended without a reply"))
    }

    /// Whether to send a reply: one is expected and none was sent.
    private func beginAnswer() -> Bool {
        guard case .open = state else { return false }
        state = .answered
        return message.wantsReply
    }
}
