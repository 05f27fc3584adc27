import CKeychaindDBus
import CKeychaindLinux

/// A connection to a bus: sends messages, makes calls, serves objects and receives signals.
///
/// The event loop keeps it alive until ``close(flushing:within:)``.
@BusActor
package final class Connection {
    enum State {
        case open
        /// Messages are being handled; libdbus must not be torn down.
        case dispatching
        /// Closed by a message handler; torn down when the handler returns.
        case closing
        case closed
    }

    let pointer: OpaquePointer
    var state = State.open
    let watches = WatchTable()
    /// The process that sends what is received here, from the kernel; nil before a message after ``noteSender()``.
    package private(set) var sender: Int32?
    var timeouts: [OpaquePointer: Timer] = [:]
    var subscriptions: [UInt64: Subscription] = [:]
    var subscriptionCount: UInt64 = 0
    /// By serial.
    var pendingCalls: [UInt32: PendingCall] = [:]
    let outbox: Outbox
    /// What ``waitUntilSent(_:)`` waits for; nil if nothing does.
    var room: Room?
    var exports: [String: ExportedObject] = [:]
    var receiveBuffer: ReceiveBuffer?
    let calls = CallQueue(byteLimit: Connection.waitingCallBytes)

    /// The unique name of this connection, such as `:1.42`.
    package private(set) var uniqueName = ""

    /// Answers calls that are not for an exported object; without it they fail with `UnknownMethod`.
    package var server: ObjectServer? {
        didSet { outbox.shortenSocketBuffer() }
    }

    /// The most bytes of received calls that wait for their turn; past it, calls of the program with most are refused.
    package var waitingCallBytes: Int {
        get { calls.byteLimit }
        set { calls.byteLimit = newValue }
    }

    /// Less than the 63 MiB of messages after which libdbus reads nothing more.
    private static let waitingCallBytes = 32 << 20

    /// Called once when the bus disconnects, or soon if it has already, but not after ``close(flushing:within:)``.
    package var onDisconnect: (@BusActor () -> Void)? {
        didSet {
            // The end may come with the reply for which the caller of this has just waited.
            guard onDisconnect != nil, isOpen, dbus_connection_get_is_connected(pointer) == 0 else { return }
            BusActor.loop.schedule(after: .zero) { [weak self] in self?.reportDisconnect() }
        }
    }

    /// Says why the program behind a unique name may not serve this process; nil if it may.
    ///
    /// Without it, all may.
    package var objectionToService: (@BusActor (_ owner: String) async -> String?)?

    /// Called with the name of a signal that is dropped because it exceeds the maximum message size.
    package var onOversizedSignal: (@BusActor (_ name: String) -> Void)?

    // MARK: Opening and closing

    /// Connects and says hello; blocks for the reply of the bus, well under a millisecond.
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

    /// The connection may not have said hello yet.
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

    /// Connects and says hello without blocking, for a bus that may be slow or hang; fails with `NoReply` on timeout.
    package static func open(_ address: String, timeout: Duration) async throws(BusError) -> Connection {
        let connection = try open(peer: address)
        try await connection.join(timeout: timeout)
        return connection
    }

    /// Connects to a program that listens at an address: a bus that is to be joined, or one that serves by itself.
    package static func open(peer address: String) throws(BusError) -> Connection {
        var error = DBusError()
        dbus_error_init(&error)
        guard let pointer = dbus_connection_open_private(address, &error) else { throw BusError(consuming: &error) }
        return try Connection(opened: pointer)
    }

    /// Says hello to a bus; closes the connection if that fails, with `NoReply` on timeout.
    package func join(timeout: Duration) async throws(BusError) {
        do throws(BusError) {
            let name = try await sayHello(timeout: timeout)
            guard dbus_bus_set_unique_name(pointer, name) != 0 else { throw Connection.disconnected }
            uniqueName = name
        } catch {
            close()
            throw error
        }
    }

    /// Keeps libdbus from ignoring SIGPIPE in this process: in a library, that is up to the host program.
    ///
    /// libdbus sends with `MSG_NOSIGNAL` anyway.
    package nonisolated static func leaveSignalsAlone() {
        dbus_connection_set_change_sigpipe(0)
    }

    /// Closes the connection after sending the queue; pending calls fail with `Disconnected`.
    ///
    /// A message handler may close its own connection; it is torn down when the handler returns.
    ///
    /// - Parameters:
    ///   - flushing: whether to block until the bus has read the queue.
    ///   - time: the longest time to block, for a bus that hangs.
    package func close(flushing: Bool = true, within time: Duration = .seconds(3)) {
        guard isOpen else { return }
        // A bus that has not replied to the hello may never read the queue.
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
        calls.removeAll()
        // A handler may hold the connection, which would hold it for good.
        subscriptions = [:]
        detach()
        // Received messages that were not handled may hold secrets.
        while let message = dbus_connection_pop_message(pointer) { _ = Message(received: message) }
        dbus_connection_unref(pointer)
    }

    package var isOpen: Bool {
        switch state {
        case .open, .dispatching: true
        case .closing, .closed: false
        }
    }

    /// Finds out with the next message who sends what is received here; see ``sender``.
    package func noteSender() {
        var descriptor: Int32 = -1
        guard sender == nil, isOpen, dbus_connection_get_socket(pointer, &descriptor) != 0,
            keychaind_pass_credentials(descriptor, 1) == 0
        else { return }
        watches.beforeReading = { [weak self, descriptor] in
            let process = keychaind_next_sender(descriptor)
            guard let self, process > 0 else { return }
            sender = process
            watches.beforeReading = nil
            _ = keychaind_pass_credentials(descriptor, 0)
        }
    }

    /// The bus's process, from the kernel; nil if it cannot be found out.
    ///
    /// Not what the bus says of itself, nor who has opened its socket: for a unit of the user's, that is systemd.
    package func senderProcess() async -> Int32? {
        noteSender()
        if sender == nil { _ = try? await call(makeBusCall("GetId")) }
        return sender
    }
}

package enum BusAddress: Hashable, Sendable {
    /// The session bus of the user, from `DBUS_SESSION_BUS_ADDRESS` or the runtime folder.
    case session
    case system
    /// Such as `unix:path=…`.
    case address(String)
}
