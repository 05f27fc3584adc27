import CKeychaindDBus
import Glibc

extension Connection {
    /// Sends a message, in this turn of the loop if the socket accepts it.
    package func send(_ message: Message) {
        guard isOpen else { return }
        guard !message.hasDescriptors else {
            return outbox.handOver { [self] in
                if isOpen { dbus_connection_send(pointer, message.pointer, nil) }
            }
        }
        outbox.append(OutgoingMessage(copying: message, serial: outbox.nextSerial()))
    }

    package func emit(
        _ path: ObjectPath,
        _ interface: String,
        _ member: String,
        to destination: String? = nil,
        _ values: (inout Writer) -> Void
    ) {
        marshal(.signal(path, interface: interface, member: member, to: destination), values)
    }

    /// - Parameter entries: writes the entries of an `a{sv}`.
    package func emitPropertiesChanged(
        _ path: ObjectPath,
        _ interface: String,
        to destination: String? = nil,
        _ entries: (inout Writer) -> Void
    ) {
        emit(path, StandardInterface.properties, "PropertiesChanged", to: destination) { writer in
            interface.write(to: &writer)
            writer.writeArray(of: "{sv}", entries)
            [String]().write(to: &writer)
        }
    }

    /// Sends the reply to a call, and overwrites it once it is sent.
    func answer(_ call: MethodCall, failing error: ErrorName? = nil, _ values: (inout Writer) -> Void) {
        answer(call.message.serial, of: call.peer, failing: error, values)
    }

    /// Begins the reply to a call, for ``answer(_:written:)``.
    func beginAnswer(_ call: MethodCall) -> Writer {
        begin(answerHeader(of: call))
    }

    /// Sends a reply of ``beginAnswer(_:)``.
    func answer(_ call: MethodCall, written writer: consuming Writer) {
        guard isOpen else { return }
        finish(writer, answerHeader(of: call), for: call.peer.unsent)
    }

    private func answerHeader(of call: MethodCall) -> MessageHeader {
        .answer(to: call.message.serial, of: call.peer.name, error: nil)
    }

    func answer(_ serial: UInt32, of peer: any Peer, failing error: ErrorName?, _ values: (inout Writer) -> Void) {
        marshal(.answer(to: serial, of: peer.name, error: error), for: peer.unsent, values)
    }

    private func marshal(
        _ header: MessageHeader,
        for account: UnsentAnswers? = nil,
        _ values: (inout Writer) -> Void
    ) {
        guard isOpen else { return }
        var writer = begin(header)
        values(&writer)
        finish(writer, header, for: account)
    }

    private func begin(_ header: MessageHeader) -> Writer {
        Writer(beginning: Marshaller(header, serial: outbox.nextSerial()))
    }

    private func finish(_ writer: consuming Writer, _ header: MessageHeader, for account: UnsentAnswers?) {
        guard let message = writer.finish() else { return refuse(header) }
        account.map(message.count)
        outbox.append(message)
    }

    /// Replaces an oversized reply by an error and drops an oversized signal: the bus would close the connection.
    private func refuse(_ header: MessageHeader) {
        switch header {
        case .answer(let serial, let caller, _):
            marshal(.answer(to: serial, of: caller, error: .limitsExceeded)) { writer in
                "the reply exceeds the maximum size of a message".write(to: &writer)
            }
        case .signal(_, let interface, let member, _):
            onOversizedSignal?("\(interface).\(member)")
        }
    }
}

extension Connection {
    /// The most descriptors that the kernel passes at once (`SCM_MAX_FD`).
    ///
    /// libdbus disconnects on a message with more than it expects, which would end the service.
    private nonisolated static let descriptorsPerMessage = 253

    /// Queued bytes at which the connection stops handling calls until the bus has read some.
    private static let outgoingLimit = 16 << 20

    /// Queued bytes from which large replies wait: far fewer, so that calls of other programs are handled between them.
    private static let largeReplyLimit = 1 << 20

    /// Limits received descriptors, of which libdbus by itself accepts thousands.
    func limitDescriptors() {
        dbus_connection_set_max_message_unix_fds(pointer, Connection.descriptorsPerMessage)
        // At this limit, libdbus stops reading until messages are released; see ``ReceivedDescriptors``.
        dbus_connection_set_max_received_unix_fds(pointer, Connection.receivedDescriptors)
    }

    /// The number of received descriptors at which libdbus stops reading: half of what the process may
    /// open beside its own files, as one more message may come with as many.
    nonisolated static var receivedDescriptors: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return descriptorsPerMessage }
        let free = Int(clamping: limit.rlim_cur) - ownDescriptors
        return min(descriptorsPerMessage, max(16, free / 2))
    }

    /// The open files of the process itself, about.
    private nonisolated static let ownDescriptors = 96

    package var bytesToSend: Int { Int(dbus_connection_get_outgoing_size(pointer)) + outbox.size }

    /// The bytes that have left the queue so far.
    package var sentBytes: Int { outbox.written }

    /// The ``sentBytes`` at which as much has left as is queued now.
    package var endOfQueue: Int { outbox.written + outbox.size }

    /// Whether another call may be handled, whose reply adds to the queue.
    ///
    /// Programs that call faster than the bus takes the replies would otherwise fill the memory.
    var mayAddAnswers: Bool { bytesToSend < Connection.outgoingLimit }

    /// Whether messages may be read: refusing them adds to the queue, too.
    var mayRead: Bool { bytesToSend < 2 * Connection.outgoingLimit }

    /// Waits, in suspended calls with large replies, until the bus has read most of the queue or the connection is
    /// closed.
    ///
    /// What is queued later does not count: replies that need not wait may keep the queue full for ever.
    package func waitForRoom() async {
        await waitUntilSent(endOfQueue - Connection.largeReplyLimit)
    }

    /// Waits until ``sentBytes`` has reached a place in the queue, or the connection is closed.
    package func waitUntilSent(_ place: Int) async {
        while isOpen, sentBytes < place {
            let room = Room(place: min(place, room?.place ?? place), promise: room?.promise ?? Promise())
            self.room = room
            await room.promise.wait()
        }
    }

    func resumeWaitersForRoom() {
        guard let room, !isOpen || sentBytes >= room.place else { return }
        self.room = nil
        room.promise.fulfill()
    }

    /// The next room in the queue that somebody waits for.
    struct Room {
        /// The ``sentBytes`` by then.
        let place: Int
        let promise: Promise<Void>
    }
}
