import CDBus
import CLinux

/// A connection to a bus: sends, calls, serves objects, and hears signals.
///
/// It lives until ``close()``, whether anybody else holds it or not.
@BusActor
package final class Connection {
    private enum State {
        case open
        /// Messages are being handled, during which libdbus must not be torn down.
        case dispatching
        /// Closed by whoever handles a message; torn down after it.
        case closing
        case closed
    }

    let pointer: OpaquePointer
    private var state = State.open
    private let watches = WatchTable()
    private var timeouts: [OpaquePointer: Timer] = [:]
    private var subscriptions: [UInt64: Subscription] = [:]
    private var subscriptionCount: UInt64 = 0
    private var pendingCalls: [ObjectIdentifier: PendingCall] = [:]
    let outbox: Outbox
    var waitersForRoom: [CheckedContinuation<Void, Never>] = []
    private var exports: [String: Export] = [:]

    /// The name that the bus has given this connection, such as `:1.42`.
    package private(set) var uniqueName = ""

    /// Answers the calls that arrive and are not for an exported object; without it they are `UnknownMethod`.
    package var server: ObjectServer?

    /// Called once when the bus has gone, but not after ``close()``.
    package var onDisconnect: (@BusActor () -> Void)?

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
    /// - Parameter flushing: whether to block until the bus has taken what is queued, which one that has stopped never does.
    package func close(flushing: Bool = true) {
        guard isOpen else { return }
        // A bus that has not even answered the hello may never read what is queued.
        if flushing, !uniqueName.isEmpty {
            outbox.drain()
            dbus_connection_flush(pointer)
        }
        dbus_connection_close(pointer)
        abandonCalls()
        if case .dispatching = state {
            state = .closing
        } else {
            tearDown()
        }
    }

    private func tearDown() {
        state = .closed
        outbox.close()
        resumeWaitersForRoom()
        detach()
        dbus_connection_unref(pointer)
    }

    package var isOpen: Bool {
        switch state {
        case .open, .dispatching: true
        case .closing, .closed: false
        }
    }

    // MARK: Sending

    /// Sends a message, in this turn of the loop if the socket takes it.
    package func send(_ message: Message) {
        guard isOpen else { return }
        guard !message.hasDescriptors else {
            return outbox.handOver { [self] in
                if isOpen { dbus_connection_send(pointer, message.pointer, nil) }
            }
        }
        outbox.append(OutgoingMessage(copying: message, serial: outbox.nextSerial()))
    }

    /// Sends a message that holds a secret; its bytes are overwritten.
    package func sendWiping(_ message: Message) {
        send(message)
        message.wipeByteArrays()
    }

    /// Sends a signal with the values that the closure writes.
    package func emit(
        _ path: ObjectPath,
        _ interface: String,
        _ member: String,
        to destination: String? = nil,
        _ values: (inout Writer) -> Void
    ) {
        marshal(.signal(path, interface: interface, member: member, to: destination), values)
    }

    /// Sends the signal that tells of changed properties.
    ///
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

    /// Sends the answer to a call; everything in it is overwritten once it has left.
    func answer(_ call: MethodCall, failing error: ErrorName? = nil, _ values: (inout Writer) -> Void) {
        let serial = dbus_message_get_serial(call.message.pointer)
        marshal(.answer(to: serial, of: call.sender, error: error), values)
        // Where no other call waits to be handled, nothing will come to leave together with this.
        if case .dispatching = state, dbus_connection_get_dispatch_status(pointer) != DBUS_DISPATCH_DATA_REMAINS {
            outbox.flush()
        }
    }

    private func marshal(_ header: MessageHeader, _ values: (inout Writer) -> Void) {
        guard isOpen else { return }
        var writer = Writer(beginning: Marshaller(header, serial: outbox.nextSerial()))
        values(&writer)
        if let message = writer.finish() { outbox.append(message) }
    }

    /// Sends a call and waits for the answer.
    ///
    /// - Parameter timeout: how long to wait before failing with `NoReply`; nil waits for ever.
    package func call(_ message: Message, timeout: Duration? = .seconds(25)) async throws(BusError) -> Message {
        let reply = await withCheckedContinuation { continuation in
            startCall(message, timeout: timeout) { continuation.resume(returning: $0) }
        }
        guard let reply else { throw Connection.disconnected }
        if let error = reply.error { throw error }
        return reply
    }

    private static let disconnected = BusError(.disconnected, "the connection to the bus is closed")

    private func startCall(
        _ message: Message,
        timeout: Duration?,
        completion: @escaping @BusActor (Message?) -> Void
    ) {
        outbox.handOver { [self] in startCallNow(message, timeout: timeout, completion: completion) }
    }

    private func startCallNow(
        _ message: Message,
        timeout: Duration?,
        completion: @escaping @BusActor (Message?) -> Void
    ) {
        var pending: OpaquePointer?
        if isOpen {
            dbus_connection_send_with_reply(
                pointer,
                message.pointer,
                &pending,
                timeout?.clampedMilliseconds ?? keychaind_dbus_timeout_infinite
            )
        }
        guard let pending else { return completion(nil) }
        let call = PendingCall(pending)
        pendingCalls[ObjectIdentifier(call)] = call
        call.start { [weak self] reply in
            self?.pendingCalls[ObjectIdentifier(call)] = nil
            completion(reply)
        }
    }

    /// libdbus forgets the calls that wait when the connection ends.
    private func abandonCalls() {
        for call in pendingCalls.values {
            call.abandon()
        }
    }

    // MARK: Names

    /// Asks for a well-known name.
    ///
    /// Blocks until the bus has answered.
    package func requestName(
        _ name: String,
        options: NameRequest.Options = []
    ) throws(BusError) -> NameRequest.Outcome {
        guard isOpen else { throw Connection.disconnected }
        outbox.drain()
        var error = DBusError()
        dbus_error_init(&error)
        let code = dbus_bus_request_name(
            pointer,
            name,
            options.rawValue | NameRequest.Options.doNotQueue.rawValue,
            &error
        )
        guard code >= 0 else { throw BusError(consuming: &error) }
        return NameRequest.Outcome(code: code)
    }

    // MARK: Signals

    /// Hears the signals that match, until ``unsubscribe(_:)``.
    @discardableResult
    package func subscribe(
        to match: SignalMatch,
        _ handler: @escaping @BusActor (Message) -> Void
    ) -> SubscriptionID {
        subscriptionCount += 1
        subscriptions[subscriptionCount] = Subscription(match: match, handler: handler)
        outbox.handOver { [self] in
            if isOpen { dbus_bus_add_match(pointer, match.rule, nil) }
        }
        return SubscriptionID(rawValue: subscriptionCount)
    }

    package func unsubscribe(_ id: SubscriptionID) {
        guard let subscription = subscriptions.removeValue(forKey: id.rawValue) else { return }
        outbox.handOver { [self] in
            if isOpen { dbus_bus_remove_match(pointer, subscription.match.rule, nil) }
        }
    }

    /// Whether a subscription has not been ended.
    func isSubscribed(_ id: SubscriptionID) -> Bool {
        subscriptions[id.rawValue] != nil
    }

    /// Calls back whenever a unique or well-known name has lost its owner.
    @discardableResult
    package func onNameVanished(_ handler: @escaping @BusActor (_ name: String) -> Void) -> SubscriptionID {
        subscribe(to: .nameVanished) { message in
            guard let (name, _, owner) = try? message.read(String.self, String.self, String.self), owner.isEmpty else {
                return
            }
            handler(name)
        }
    }

    // MARK: Exported objects

    /// Puts an object at a path, for one peer, until ``withdraw(_:)``: something that a service of another program calls back.
    ///
    /// To everybody else there is at this path what ``server`` finds there: the object cannot be told from one that does not exist.
    /// An object that was exported at the path before is replaced.
    ///
    /// - Parameters:
    ///   - peer: the unique name of the one connection that may call it.
    ///   - limit: how many of its calls may wait at a time.
    ///   - takesDescriptors: whether its calls may have descriptors among their arguments.
    package func export(
        _ target: any ObjectTarget,
        at path: ObjectPath,
        to peer: String,
        limit: Int = 16,
        takesDescriptors: Bool = false
    ) {
        let server = ObjectServer(on: self, limit: limit, takesDescriptors: takesDescriptors) { _ in target }
        exports[path.rawValue] = Export(peer: peer, server: server)
    }

    /// Takes an exported object away.
    package func withdraw(_ path: ObjectPath) {
        exports[path.rawValue] = nil
    }

    private func server(for message: Message) -> ObjectServer? {
        if !exports.isEmpty, let export = exports[message.path ?? ""], export.peer == message.sender {
            return export.server
        }
        return server
    }

    // MARK: Receiving

    private func dispatch() {
        guard case .open = state else { return }
        state = .dispatching
        while isOpen, mayAddAnswers, dbus_connection_dispatch(pointer) == DBUS_DISPATCH_DATA_REMAINS {}
        guard case .dispatching = state else { return tearDown() }
        state = .open
        outbox.flush()
        resumeWaitersForRoom()
    }

    private func receive(_ message: Message) -> DBusHandlerResult {
        guard isOpen else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
        switch dbus_message_get_type(message.pointer) {
        case keychaind_dbus_message_method_call:
            guard let server = server(for: message) else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
            server.receive(message)
            return DBUS_HANDLER_RESULT_HANDLED
        case keychaind_dbus_message_signal:
            if dbus_message_is_signal(message.pointer, "org.freedesktop.DBus.Local", "Disconnected") != 0 {
                abandonCalls()
                let action = onDisconnect
                onDisconnect = nil
                action?()
            }
            for subscription in subscriptions.values where subscription.match.matches(message) {
                subscription.handler(message)
            }
            return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
        default:
            return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
        }
    }

    // MARK: The event loop

    private func attach() {
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
                let retained = Message(retaining: message)
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

    private func detach() {
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
        timeouts[timeout] = BusActor.loop.schedule(after: interval) { [weak self] in
            guard let self, timeouts[timeout] != nil else { return }
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
        // The loop's thread is the only one that calls libdbus, so that this is where libdbus calls back.
        nonisolated(unsafe) let context = context
        return BusActor.assumeIsolated {
            body(Unmanaged<Connection>.fromOpaque(context!).takeUnretainedValue())
        }
    }
}
