import CDBus
import Glibc

/// What libdbus asks of an event loop.
extension Connection {
    func attach() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        dbus_connection_set_watch_functions(
            pointer,
            { watch, context in
                Connection.from(context) { $0.watches.add(watch!) }
                return 1
            },
            { watch, context in Connection.from(context) { $0.watches.remove(watch!) } },
            { watch, context in Connection.from(context) { $0.watches.update(watch!) } },
            context,
            nil
        )
        dbus_connection_set_timeout_functions(
            pointer,
            { timeout, context in
                Connection.from(context) { $0.schedule(timeout!) }
                return 1
            },
            { timeout, context in Connection.from(context) { $0.unschedule(timeout!) } },
            { timeout, context in Connection.from(context) { $0.schedule(timeout!) } },
            context,
            nil
        )
        dbus_connection_add_filter(
            pointer,
            { _, message, context in
                guard let message else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
                let retained = Message(received: dbus_message_ref(message))
                return Connection.from(context) { $0.receive(retained) }
            },
            context,
            nil
        )
        // Held by the loop until it is closed: libdbus calls back with a bare pointer to this object.
        BusActor.loop.beforeEachWait(owner: self) { [self] in
            dispatch()
        } flush: { [self] in
            if isOpen { outbox.flush() }
        }
    }

    /// Whether the bus is at the other end still, as far as the socket knows: also before the loop has read that it has gone.
    package var isConnected: Bool {
        var descriptor: Int32 = -1
        guard isOpen, dbus_connection_get_is_connected(pointer) != 0,
            dbus_connection_get_unix_fd(pointer, &descriptor) != 0
        else { return false }
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&state, 1, 0) <= 0
    }

    func detach() {
        BusActor.loop.removeBeforeEachWait(owner: self)
        dbus_connection_set_watch_functions(pointer, nil, nil, nil, nil, nil)
        dbus_connection_set_timeout_functions(pointer, nil, nil, nil, nil, nil)
        watches.removeAll()
        for timer in timeouts.values {
            BusActor.loop.cancel(timer)
        }
        timeouts.removeAll()
    }

    private func schedule(_ timeout: OpaquePointer) {
        unschedule(timeout)
        guard dbus_timeout_get_enabled(timeout) != 0 else { return }
        let interval = Duration.milliseconds(dbus_timeout_get_interval(timeout))
        // The program that is to answer sleeps when the system does.
        timeouts[timeout] = BusActor.loop.schedule(afterWaking: interval) { [self] in
            guard timeouts[timeout] != nil else { return }
            dbus_timeout_handle(timeout)
            // libdbus removes a timeout that is over; what is still there repeats.
            if timeouts[timeout] != nil { schedule(timeout) }
        }
    }

    private func unschedule(_ timeout: OpaquePointer) {
        if let timer = timeouts.removeValue(forKey: timeout) {
            BusActor.loop.cancel(timer)
        }
    }

    private nonisolated static func from<Result: Sendable>(
        _ context: UnsafeMutableRawPointer?,
        _ body: @BusActor (Connection) -> Result
    ) -> Result {
        // `nonisolated(unsafe)`: the loop's thread is the only one that calls libdbus, and so the one that libdbus calls back;
        // nothing is sent to another.
        nonisolated(unsafe) let context = context
        return BusActor.assumeIsolated {
            body(Unmanaged<Connection>.fromOpaque(context!).takeUnretainedValue())
        }
    }
}
