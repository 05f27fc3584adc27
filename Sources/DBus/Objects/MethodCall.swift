/// A call that has arrived and is to be answered once.
@BusActor
package final class MethodCall {
    private enum State {
        case open
        case answered
    }

    package let message: Message
    /// The caller's unique name, set by the bus.
    package let sender: String
    package let member: String
    /// Nil if the caller left it out.
    package let interface: String?

    private let connection: Connection
    private var state = State.open

    init(_ message: Message, on connection: Connection) {
        self.message = message
        self.connection = connection
        sender = message.sender
        interface = message.interface
        member = message.member ?? ""
    }

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

    /// Answers with the values that the closure writes.
    package func reply(_ values: (inout Writer) -> Void = { _ in }) {
        answer { reply in
            reply.write(values)
            connection.send(reply)
        }
    }

    /// Answers with values of known types.
    package func reply<each Value: BusValue>(with values: repeat each Value) {
        answer { reply in
            reply.append(repeat each values)
            connection.send(reply)
        }
    }

    /// Answers with values among which are secrets: the message is overwritten once it has left.
    package func replyWiping(_ values: (inout Writer) -> Void) {
        answer { reply in
            reply.write(values)
            connection.sendWiping(reply)
        }
    }

    /// Answers with an error.
    package func fail(_ error: BusError) {
        guard case .open = state else { return }
        state = .answered
        // A secret among the arguments may not have been read, and libdbus keeps used messages.
        message.wipeByteArrays()
        if message.wantsReply {
            connection.send(message.makeReply(failing: error))
        }
    }

    /// Answers a call that its handler has left without an answer: a caller must never wait for nothing.
    func finish() {
        fail(BusError(.failed, "\(member) has ended without an answer"))
    }

    private func answer(_ send: (Message) -> Void) {
        guard case .open = state else { return }
        state = .answered
        if message.wantsReply {
            send(message.makeReply())
        }
    }
}
