import CDBus
import CLinux

/// A connection to a bus: sends, calls, serves objects, and hears signals.
///
/// It lives until ``close()``, whether anybody else holds it or not.
@BusActor
package final class Connection {
    enum State {
        case open
        /// Messages are being handled, during which libdbus must not be torn down.
        case dispatching
        /// Closed by whoever handles a message; torn down after it.
        case closing
        case closed
    }

    let pointer: OpaquePointer
    var state = State.open
    let watches = WatchTable()
    var timeouts: [OpaquePointer: Timer] = [:]
    var subscriptions: [UInt64: Subscription] = [:]
    var subscriptionCount: UInt64 = 0
    var pendingCalls: [ObjectIdentifier: PendingCall] = [:]
    let outbox: Outbox
    /// What ``waitForRoom()`` waits for.
    var room: Promise<Void>?
    var exports: [String: Export] = [:]
    var receiveBuffer: ReceiveBuffer?

    /// The name that the bus has given this connection, such as `:1.42`.
    package private(set) var uniqueName = ""

    /// Answers the calls that arrive and are not for an exported object; without it they are `UnknownMethod`.
    package var server: ObjectServer?

    /// Called once when the bus has gone, but not after ``close()``.
    package var onDisconnect: (@BusActor () -> Void)?

    /// Called with the name of a signal that is not sent because it is longer than a message may be.
    package var onOversizedSignal: (@BusActor (_ name: String) -> Void)?

    // MARK: Opening and closing

    /// Connects and says hello.
    ///
    /// Blocks until the bus has answered, which takes well under a millisecond.
    package convenience init(_ address: BusAddress) throws(BusError) {
        var error = DBusError()
        dbus_error_init(&error)
        let pointer: OpaquePointer? =
            switch address {
            case .session: dbus_bus_get_private(DBUS_BUS_SESSION, &error)
            case .system: dbus_bus_get_private(DBUS_BUS_SYSTEM, &error)
            case .address(let address): dbus_connection_open_private(address, &error)
            }
        guard let pointer else { throw BusError(consuming: &error) }
        if case .address = address, dbus_bus_register(pointer, &error) == 0 {
            Connection.abandon(pointer)
            throw BusError(consuming: &error)
        }
        try self.init(opened: pointer)
        uniqueName = String(optional: dbus_bus_get_unique_name(pointer)) ?? ""
    }

    /// Takes over a connection, which may not have said hello.
    private init(opened pointer: OpaquePointer) throws(BusError) {
        do throws(BusError) {
            outbox = try Outbox(of: pointer)
        } catch {
            Connection.abandon(pointer)
            throw error
        }
        self.pointer = pointer
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        limitDescriptors()
        attach()
    }

    private static func abandon(_ pointer: OpaquePointer) {
        dbus_connection_close(pointer)
        dbus_connection_unref(pointer)
    }

    /// Connects and says hello, without blocking: for a bus that may be slow, or not answer at all.
    ///
    /// - Parameters:
    ///   - address: where the bus listens, such as `unix:path=…`.
    ///   - timeout: how long the bus may take before this fails with `NoReply`.
    package static func open(_ address: String, timeout: Duration) async throws(BusError) -> Connection {
        var error = DBusError()
        dbus_error_init(&error)
        guard let pointer = dbus_connection_open_private(address, &error) else { throw BusError(consuming: &error) }
        let connection = try Connection(opened: pointer)
        do throws(BusError) {
            let name = try await connection.sayHello(timeout: timeout)
            guard dbus_bus_set_unique_name(pointer, name) != 0 else { throw disconnected }
            connection.uniqueName = name
            return connection
        } catch {
            connection.close()
            throw error
        }
    }

    /// Keeps libdbus, from now on and in the whole process, from ignoring SIGPIPE: for a library, whose host decides that.
    ///
    /// libdbus sends with `MSG_NOSIGNAL` in any case.
    package nonisolated static func leaveSignalsAlone() {
        dbus_connection_set_change_sigpipe(0)
    }

    /// Leaves the bus after what is queued has been sent; calls that wait fail with `Disconnected`.
    ///
    /// A handler may close the connection that called it: the rest of the closing then waits until the handler has returned.
    ///
    /// - Parameters:
    ///   - flushing: whether to block until the bus has taken what is queued.
    ///   - time: how long to block for it: a bus that has stopped never takes it.
    package func close(flushing: Bool = true, within time: Duration = .seconds(3)) {
        guard isOpen else { return }
        // A bus that has not even answered the hello may never read what is queued.
        if flushing, !uniqueName.isEmpty { outbox.drain(for: time) }
        dbus_connection_close(pointer)
        abandonCalls()
        if case .dispatching = state {
            state = .closing
        } else {
            tearDown()
        }
    }

    func tearDown() {
        state = .closed
        outbox.close()
        resumeWaitersForRoom()
        receiveBuffer = nil
        detach()
        // What has arrived and was not handled may have secrets in it.
        while let message = dbus_connection_pop_message(pointer) { _ = Message(received: message) }
        dbus_connection_unref(pointer)
    }

    package var isOpen: Bool {
        switch state {
        case .open, .dispatching: true
        case .closing, .closed: false
        }
    }

    /// The process that has opened the socket of the bus, as the kernel has seen it; nil if it cannot be told.
    package var peerProcess: Int32? {
        var descriptor: Int32 = -1
        guard isOpen, dbus_connection_get_socket(pointer, &descriptor) != 0 else { return nil }
        let process = keychaind_peer_process(descriptor)
        return process > 0 ? process : nil
    }
}
