/// A call that has arrived and is to be answered once.
@BusActor
package final class MethodCall {
    private enum State {
        case open
        case answered
    }

    package let message: Message
    /// The connection that has called, as the bus names it.
    package let peer: any Peer
    private let connection: Connection
    private var state = State.open

    init(_ message: Message, of peer: any Peer, on connection: Connection) {
        self.message = message
        self.peer = peer
        self.connection = connection
    }

    package var member: String { message.member ?? "" }

    /// Nil if the caller left it out.
    package var interface: String? { message.interface }

    /// The path of the object that is called.
    package var path: String { message.path ?? "/" }

    /// Lends the path without copying it.
    package func withPath<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        message.withPath(body)
    }

    /// Reads all arguments.
    package func arguments<each Value: BusValue>(
        _ types: repeat (each Value).Type
    ) throws(BusError) -> (repeat each Value) {
        try message.read(repeat each types)
    }

    /// Answers with the values that the closure writes; they may be secrets, for all is overwritten once it has left.
    package func reply(_ values: (inout Writer) -> Void = { _ in }) {
        guard beginAnswer() else { return }
        connection.answer(self, values)
    }

    /// Answers with values of known types.
    package func reply<each Value: WritableValue>(with values: repeat each Value) {
        reply { writer in
            repeat (each values).write(to: &writer)
        }
    }

    /// Answers with an error.
    package func fail(_ error: BusError) {
        guard case .open = state else { return }
        // A secret among the arguments may not have been read, and libdbus keeps used messages.
        message.wipeByteArrays()
        guard beginAnswer() else { return }
        connection.answer(self, failing: error.name) { String(error.sentMessage).write(to: &$0) }
    }

    /// Takes note of how much there may be to read.
    func noteSize() {
        connection.server?.noteSize(of: message)
    }

    /// Answers a call that its handler has left without an answer: a caller must never wait for nothing.
    func finish() {
        guard case .open = state else { return }
        fail(BusError(.failed, "\(member) has ended without an answer"))
    }

    /// Whether the caller is to be answered, which is only once.
    private func beginAnswer() -> Bool {
        guard case .open = state else { return false }
        state = .answered
        return message.wantsReply
    }
}
