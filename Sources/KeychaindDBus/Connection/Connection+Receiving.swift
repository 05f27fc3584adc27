import CKeychaindDBus

extension Connection {
    func dispatch() {
        guard case .open = state else { return }
        state = .dispatching
        while isOpen, mayAddAnswers, receiveNext() {}
        guard case .dispatching = state else { return tearDown() }
        state = .open
        outbox.flush()
        resumeWaitersForRoom()
    }

    /// Handles the next message; returns false if there is none.
    ///
    /// Calls for the server bypass libdbus's own dispatch, which costs seven times as much.
    private func receiveNext() -> Bool {
        guard let message = dbus_connection_borrow_message(pointer) else { return false }
        receiveBuffer?.note(message)
        let isForLibdbus = dbus_message_has_interface(message, StandardInterface.peer) != 0
        guard let server, dbus_message_get_type(message) == keychaind_dbus_message_method_call, !isForLibdbus else {
            // libdbus answers `Peer` calls by name alone, without reading their arguments.
            if isForLibdbus { Message.wipeByteArrays(of: message) }
            dbus_connection_return_message(pointer, message)
            return dbus_connection_dispatch(pointer) == DBUS_DISPATCH_DATA_REMAINS
        }
        dbus_connection_steal_borrowed_message(pointer, message)
        let call = Message(received: message)
        (exports.isEmpty ? server : self.server(for: call) ?? server).receive(call)
        return true
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
}

extension Connection {
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
        exports[path.rawValue] = Export(peer: peer.name, server: server)
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

struct Export {
    let peer: String
    let server: ObjectServer
}
