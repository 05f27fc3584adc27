import CDBus

/// Handling what arrives.
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

    /// Handles the next message; false if there is none.
    ///
    /// A call for the server is taken out of libdbus's queue: libdbus would look whether it answers it itself, and go through its list
    /// of filters, at seven times the cost.
    private func receiveNext() -> Bool {
        guard let message = dbus_connection_borrow_message(pointer) else { return false }
        receiveBuffer?.note(message)
        let isForLibdbus = dbus_message_has_interface(message, StandardInterface.peer) != 0
        guard let server, dbus_message_get_type(message) == keychaind_dbus_message_method_call, !isForLibdbus else {
            // libdbus answers it by its name alone, and nobody else sees it.
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
