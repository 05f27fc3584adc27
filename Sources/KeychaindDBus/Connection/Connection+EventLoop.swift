import CKeychaindDBus
import CKeychaindLinux
import Glibc

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
        // The loop retains the connection until it is closed: libdbus calls back with an unretained pointer.
        BusActor.loop.participants.append(self)
    }

    /// Whether the socket is still connected; false even before the loop has read the hang-up.
    package var isConnected: Bool {
        var descriptor: Int32 = -1
        guard isOpen, dbus_connection_get_is_connected(pointer) != 0,
            dbus_connection_get_unix_fd(pointer, &descriptor) != 0
        else { return false }
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&state, 1, 0) <= 0
    }

    /// Reads nothing more, so that what programs send takes no time; answers still leave.
    ///
    /// Calls on this connection get no reply from now on.
    package func stopReading() {
        watches.stopReading()
    }

    func detach() {
        BusActor.loop.participants.removeAll { $0 === self }
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
        // The program that should reply sleeps when the system does.
        timeouts[timeout] = BusActor.loop.schedule(afterWaking: interval) { [self] in
            guard timeouts[timeout] != nil else { return }
            dbus_timeout_handle(timeout)
            // libdbus removes a timeout that is over; one that is left repeats.
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
        // `nonisolated(unsafe)`: libdbus is only called on the event loop, so it calls back there.
        nonisolated(unsafe) let context = context
        return BusActor.assumeIsolated {
            body(Unmanaged<Connection>.fromOpaque(context!).takeUnretainedValue())
        }
    }
}

/// The watches of libdbus by descriptor: libdbus has separate ones for reading and writing, epoll one entry for both.
@BusActor
final class WatchTable {
    private var watches: [Int32: [OpaquePointer]] = [:]
    private(set) var isReading = true
    /// Called before libdbus reads.
    var beforeReading: (@BusActor () -> Void)?

    nonisolated init() {}

    func stopReading() {
        isReading = false
        for watch in watches.values.joined() { update(watch) }
    }

    func add(_ watch: OpaquePointer) {
        watches[dbus_watch_get_unix_fd(watch), default: []].append(watch)
        update(watch)
    }

    func remove(_ watch: OpaquePointer) {
        let descriptor = dbus_watch_get_unix_fd(watch)
        watches[descriptor]?.removeAll { $0 == watch }
        update(watch)
        if watches[descriptor]?.isEmpty == true {
            watches[descriptor] = nil
        }
    }

    func removeAll() {
        for descriptor in watches.keys {
            BusActor.loop.unwatch(descriptor)
        }
        watches.removeAll()
        beforeReading = nil
    }

    /// Registers the events of all enabled watches of this watch's descriptor with epoll.
    func update(_ watch: OpaquePointer) {
        let descriptor = dbus_watch_get_unix_fd(watch)
        let enabled = (watches[descriptor] ?? []).filter { watch in
            let reads = dbus_watch_get_flags(watch) & DBUS_WATCH_READABLE.rawValue != 0
            return dbus_watch_get_enabled(watch) != 0 && (isReading || !reads)
        }
        guard !enabled.isEmpty else { return BusActor.loop.unwatch(descriptor) }
        let events = enabled.reduce(UInt32(0)) { $0 | WatchTable.epollEvents(of: $1) }
        // A strong reference: weak ones slow down every access. The loop releases it with `unwatch`.
        BusActor.loop.watch(descriptor, for: events) { [self] occurred in
            handle(occurred, on: descriptor)
        }
    }

    private func handle(_ events: UInt32, on descriptor: Int32) {
        let watches = self.watches[descriptor] ?? []
        if events & keychaind_epoll_in != 0 { beforeReading?() }
        for watch in watches {
            // Handling a watch may close the connection, which frees the other watches.
            guard watch == watches.first || self.watches[descriptor]?.contains(watch) == true,
                dbus_watch_get_enabled(watch) != 0
            else { continue }
            let flags = WatchTable.watchFlags(for: events) & (dbus_watch_get_flags(watch) | errorFlags)
            if flags != 0 {
                dbus_watch_handle(watch, flags)
            }
        }
    }

    private var errorFlags: UInt32 { DBUS_WATCH_ERROR.rawValue | DBUS_WATCH_HANGUP.rawValue }

    private static func epollEvents(of watch: OpaquePointer) -> UInt32 {
        let flags = dbus_watch_get_flags(watch)
        return (flags & DBUS_WATCH_READABLE.rawValue != 0 ? keychaind_epoll_in : 0)
            | (flags & DBUS_WATCH_WRITABLE.rawValue != 0 ? keychaind_epoll_out : 0)
    }

    private static func watchFlags(for events: UInt32) -> UInt32 {
        (events & keychaind_epoll_in != 0 ? DBUS_WATCH_READABLE.rawValue : 0)
            | (events & keychaind_epoll_out != 0 ? DBUS_WATCH_WRITABLE.rawValue : 0)
            | (events & keychaind_epoll_error != 0 ? DBUS_WATCH_ERROR.rawValue : 0)
            | (events & keychaind_epoll_hangup != 0 ? DBUS_WATCH_HANGUP.rawValue : 0)
    }
}
