import CDBus

/// Handling what arrives.
extension Connection {
    func dispatch() {
        guard case .open = state else { return }
        state = .dispatching
        while isOpen, mayAddAnswers, dbus_connection_dispatch(pointer) == DBUS_DISPATCH_DATA_REMAINS {}
        guard case .dispatching = state else { return tearDown() }
        state = .open
        outbox.flush()
        resumeWaitersForRoom()
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
