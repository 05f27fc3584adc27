import CKeychaindDBus

/// A connection to a bus for calls that block, outside of the event loop.
///
/// `@unchecked Sendable`: its owner uses it from one thread at a time.
package final class BlockingConnection: @unchecked Sendable {
    private let pointer: OpaquePointer

    /// Connects and says hello; blocks for the reply of the bus.
    package init(_ address: String) throws(BusError) {
        var error = DBusError()
        dbus_error_init(&error)
        guard let pointer = dbus_connection_open_private(address, &error) else { throw BusError(consuming: &error) }
        self.pointer = pointer
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        Connection.limitDescriptors(of: pointer)
        guard dbus_bus_register(pointer, &error) != 0 else { throw BusError(consuming: &error) }
    }

    deinit {
        dbus_connection_close(pointer)
        dbus_connection_unref(pointer)
    }

    package var uniqueName: String { String(optional: dbus_bus_get_unique_name(pointer)) ?? "" }

    /// Makes a call and blocks until its reply, or fails with `NoReply`.
    ///
    /// Drops everything else that was sent to this connection: kept messages could fill libdbus's queue, so that it
    /// would not read the reply.
    package func call(_ message: Message, timeout: Duration) throws(BusError) -> Message {
        var serial: UInt32 = 0
        guard dbus_connection_send(pointer, message.pointer, &serial) != 0 else {
            throw BusError(.failed, "out of memory")
        }
        let clock = LoopClock.suspending
        let deadline = clock.instant(after: timeout)
        repeat {
            guard dbus_connection_read_write(pointer, clock.milliseconds(until: deadline)) != 0 else {
                throw Connection.disconnected
            }
            while let received = dbus_connection_pop_message(pointer) {
                let reply = Message(received: received)
                guard dbus_message_get_reply_serial(received) == serial,
                    Message.isReply(received, of: message.destination)
                else { continue }
                if let error = reply.error { throw error }
                return reply
            }
        } while clock.milliseconds(until: deadline) > 0
        throw BusError(.noReply, "no reply in time")
    }
}
