import CKeychaindDBus

extension Connection: TurnParticipant {
    /// Reads messages and handles some of them, before each wait of the loop.
    func dispatch() {
        guard case .open = state, !isIdle else { return }
        state = .dispatching
        switch readAhead() {
        case .single(let call): call.server.receive(call.message)
        case .all: calls.serve { isOpen && mayAddAnswers }
        case .newcomers: calls.serveNewcomers { isOpen && mayAddAnswers }
        }
        guard case .dispatching = state else { return tearDown() }
        state = .open
        outbox.flush()
        resumeWaitersForRoom()
        // Nothing else wakes the loop for calls that are already read.
        if mayAddAnswers, calls.mayServe { BusActor.loop.turnAgain() }
    }

    /// Writes what the turn has queued.
    func flush() {
        if isOpen, !outbox.isEmpty { outbox.flush() }
    }

    /// Whether nothing waits in either direction: in a process with many connections, most turns are for another one.
    private var isIdle: Bool {
        calls.isEmpty && outbox.isEmpty && room == nil
            && dbus_connection_get_dispatch_status(pointer) == DBUS_DISPATCH_COMPLETE
    }

    private typealias Call = (message: Message, server: ObjectServer)

    private enum Received {
        case call(Call)
        case handled
        case none
    }

    /// The calls to handle next.
    private enum Turn {
        /// The only one.
        case single(Call)
        case all
        /// Those of programs that had none, since the bus has sent more than was read.
        case newcomers
    }

    /// Reads and sorts what the bus has sent.
    ///
    /// A program's call comes behind all that others have sent before, so reading goes before handling, for a while.
    private func readAhead() -> Turn {
        var single: Call?
        while isOpen, mayRead {
            let isLast = single != nil && dbus_connection_get_dispatch_status(pointer) != DBUS_DISPATCH_DATA_REMAINS
            if let call = single, !isLast {
                // What comes next may depend on the order.
                calls.add(call.message, for: call.server)
                single = nil
            }
            switch isLast ? .none : takeNext() {
            case .call(let call):
                if calls.isEmpty, !outbox.isBlocked { single = call } else { calls.add(call.message, for: call.server) }
            case .handled: break
            case .none:
                if let call = single {
                    // The usual case is handled without looking for more: small calls come several at a time.
                    guard call.message.mayBeLarge, outbox.hasInput else { return .single(call) }
                    calls.add(call.message, for: call.server)
                    single = nil
                }
                guard watches.isReading, !calls.isEmpty, calls.isSlow, outbox.hasInput else { return .all }
                // First: newcomers in every turn must not keep the others waiting.
                guard calls.mayReadOn() else { return .all }
                guard !calls.haveNewcomers else { return .newcomers }
                dbus_connection_read_write(pointer, 0)
            }
        }
        return .all
    }

    /// Takes the next message from libdbus's queue, and handles it unless it is a call that waits for its turn.
    ///
    /// Calls for the server bypass libdbus's own dispatch, which costs seven times as much.
    private func takeNext() -> Received {
        guard let message = dbus_connection_borrow_message(pointer) else { return .none }
        receiveBuffer?.note(message)
        if !pendingCalls.isEmpty, isForgedReply(message) {
            dbus_connection_steal_borrowed_message(pointer, message)
            dbus_message_unref(message)
            return .handled
        }
        let isCall = dbus_message_get_type(message) == keychaind_dbus_message_method_call
        guard let server, isCall else {
            // libdbus answers calls of `Peer` by name alone, without reading their arguments.
            if isCall, dbus_message_has_interface(message, StandardInterface.peer) != 0 {
                Message.wipeByteArrays(of: message)
            }
            dbus_connection_return_message(pointer, message)
            // libdbus answers calls, and must not write in the middle of a message.
            guard !isCall || !outbox.isBlocked else { return .none }
            dbus_connection_dispatch(pointer)
            return .handled
        }
        dbus_connection_steal_borrowed_message(pointer, message)
        let call = Message(received: message)
        if call.hasDescriptors, let target = self.server(for: call), target.mayTakeDescriptors(of: call) {
            // At once: libdbus reads nothing more while many descriptors wait.
            guard let places = target.descriptors.places(for: call) else {
                target.refuse(call, "too many descriptors are waiting, or came with this call")
                return .handled
            }
            call.descriptorPlaces = places
        }
        if !exports.isEmpty, let export = self.server(for: call), export !== server, !call.isForPeerInterface {
            // At once: the order of a prompter's calls, signals and replies means something.
            export.receive(call)
            return .handled
        }
        guard server.mayTakeDescriptors(of: call) else {
            // At once, so that they do not wait.
            server.receive(call)
            return .handled
        }
        return .call((call, server))
    }

    func receive(_ message: Message) -> DBusHandlerResult {
        guard isOpen else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
        switch dbus_message_get_type(message.pointer) {
        case keychaind_dbus_message_method_call:
            guard let server = server(for: message) else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
            server.receive(message)
            return DBUS_HANDLER_RESULT_HANDLED
        case keychaind_dbus_message_signal:
            if dbus_message_is_signal(message.pointer, "org.freedesktop.DBus.Local", "Disconnected") != 0 {
                abandonCalls()
                reportDisconnect()
            }
            for subscription in subscriptions.values where subscription.match.matches(message) {
                subscription.handler(message)
            }
            return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
        default:
            return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
        }
    }

    func reportDisconnect() {
        guard isOpen else { return }
        let action = onDisconnect
        onDisconnect = nil
        action?()
    }
}

extension Connection {
    /// Whether calls of the ``server`` have come that are not answered yet.
    package var hasWaitingCalls: Bool { !calls.isEmpty || server.map { $0.waitingCalls > 0 } ?? false }

    /// Runs an action after the calls that a name has made before it vanished.
    ///
    /// - Parameter isQuestion: whether a call only asks, so that it is dropped: the bus would take the answer for
    ///   nobody, however large.
    package func afterCalls(
        of name: String,
        dropping isQuestion: (Message) -> Bool,
        _ action: @escaping @BusActor () -> Void
    ) {
        calls.afterCalls(of: name, dropping: isQuestion, action)
    }

    /// Exports an object to one peer until ``withdraw(_:)``, such as a callback object for a service.
    ///
    /// For every other caller nothing is exported at the path, so that no other program can answer in place of the
    /// service. Replaces an earlier export. `takesDescriptors` allows descriptors in arguments.
    package func export(
        _ target: any ObjectTarget,
        at path: ObjectPath,
        to peer: any Peer,
        takesDescriptors: Bool = false
    ) {
        let server = ObjectServer(self, takesDescriptors: takesDescriptors) { _ in
            peer
        } dispatch: { (call) throws(BusError) in
            try target.dispatch(call)
        }
        exports[path.rawValue] = ExportedObject(peer: peer.name, server: server)
    }

    package func export(
        _ target: any ObjectTarget,
        at path: ObjectPath,
        to name: String,
        takesDescriptors: Bool = false
    ) {
        export(target, at: path, to: BasicPeer(name, WaitingCalls(limit: 16)), takesDescriptors: takesDescriptors)
    }

    package func withdraw(_ path: ObjectPath) {
        exports[path.rawValue] = nil
    }

    func server(for message: Message) -> ObjectServer? {
        if !exports.isEmpty, let export = exports[message.path ?? ""], export.peer == message.sender {
            return export.server
        }
        return server
    }
}

struct ExportedObject {
    let peer: String
    let server: ObjectServer
}
