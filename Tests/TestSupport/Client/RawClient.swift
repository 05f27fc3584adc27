import CKeychaindDBus
package import KeychaindDBus

/// A client that blocks its thread, so that nothing is handled between its messages.
///
/// `@unchecked Sendable`: a test uses it from one thread at a time.
package final class RawClient: @unchecked Sendable {
    private enum State {
        case open
        case closed
    }

    private let pointer: OpaquePointer
    private var state = State.open

    package init(_ address: String) throws(BusError) {
        guard let pointer = dbus_connection_open_private(address, nil), dbus_bus_register(pointer, nil) != 0 else {
            throw BusError(.disconnected, "there is no bus")
        }
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        self.pointer = pointer
    }

    deinit {
        close()
        dbus_connection_unref(pointer)
    }

    package var uniqueName: String { String(cString: dbus_bus_get_unique_name(pointer)) }

    package func send(_ message: Message) {
        dbus_connection_send(pointer, message.pointer, nil)
    }

    /// Blocks until the bus has passed on everything that was sent.
    package func waitForBus() throws(BusError) {
        let bus = ObjectPath(unchecked: "/org/freedesktop/DBus")
        _ = try call(.call(to: SignalMatch.bus, bus, SignalMatch.bus, "GetId"))
    }

    /// Makes a call and blocks until its reply; throws if there is none, or an error.
    package func call(_ message: Message) throws(BusError) -> Message {
        guard let reply = dbus_connection_send_with_reply_and_block(pointer, message.pointer, 120_000, nil) else {
            throw BusError(.failed, "a call has failed or was not answered")
        }
        return Message(owning: reply)
    }

    /// Waits for a number of replies.
    package func replies(_ count: Int) async -> [Message] {
        await BlockingThread.run { [self] in
            var replies: [Message] = []
            while true {
                // First: some may have been read while it waited for the bus.
                while let message = dbus_connection_pop_message(pointer) {
                    let message = Message(owning: message)
                    if dbus_message_get_reply_serial(message.pointer) != 0 { replies.append(message) }
                }
                guard replies.count < count, dbus_connection_read_write(pointer, -1) != 0 else { return replies }
            }
        }
    }

    /// Becomes a monitor: from now on it receives all messages on the bus, and may send none.
    package func monitor() async throws(BusError) {
        let message = Message.call(
            to: SignalMatch.bus,
            ObjectPath(unchecked: "/org/freedesktop/DBus"),
            "org.freedesktop.DBus.Monitoring",
            "BecomeMonitor"
        )
        message.append([String](), UInt32(0))
        send(message)
        guard let reply = await replies(1).first, reply.error == nil else {
            throw BusError(.failed, "the bus allows no monitor")
        }
    }

    /// Waits for messages up to the first for which the closure returns true.
    package func messages(upTo isLast: @escaping @Sendable (Message) -> Bool) async -> [Message] {
        await BlockingThread.run { [self] in
            var messages: [Message] = []
            while true {
                while let message = dbus_connection_pop_message(pointer) {
                    messages.append(Message(owning: message))
                    if isLast(messages[messages.count - 1]) { return messages }
                }
                guard dbus_connection_read_write(pointer, -1) != 0 else { return messages }
            }
        }
    }

    package func close() {
        guard case .open = state else { return }
        state = .closed
        dbus_connection_flush(pointer)
        dbus_connection_close(pointer)
    }
}

extension Message {
    /// The name to which it is sent; nil for a broadcast.
    package var receiver: String? {
        dbus_message_get_destination(pointer).map { String(cString: $0) }
    }
}
