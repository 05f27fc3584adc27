import CDBus
import CLinux

/// libdbus's watches by their descriptor: it may have one for reading and one for writing, epoll has one entry for both.
@BusActor
final class WatchTable {
    private var watches: [Int32: [OpaquePointer]] = [:]

    nonisolated init() {}

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
    }

    /// Tells epoll which events the enabled watches of this one's descriptor want.
    func update(_ watch: OpaquePointer) {
        let descriptor = dbus_watch_get_unix_fd(watch)
        let enabled = (watches[descriptor] ?? []).filter { dbus_watch_get_enabled($0) != 0 }
        guard !enabled.isEmpty else { return BusActor.loop.unwatch(descriptor) }
        let events = enabled.reduce(UInt32(0)) { $0 | WatchTable.epollEvents(of: $1) }
        // The loop holds this table as long as it watches: a weak reference would make every use of the table take longer.
        BusActor.loop.watch(descriptor, for: events) { [self] occurred in
            handle(occurred, on: descriptor)
        }
    }

    private func handle(_ events: UInt32, on descriptor: Int32) {
        let watches = self.watches[descriptor] ?? []
        for watch in watches {
            // Handling a watch may end the connection, and free its other watches with it.
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
