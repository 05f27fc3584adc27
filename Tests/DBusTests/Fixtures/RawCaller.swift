import TestSupport

/// Another implementation of D-Bus as a client of ``TestObject``, for what ours does not send.
struct RawCaller {
    private let bus: PrivateBus

    init(_ bus: PrivateBus) {
        self.bus = bus
    }

    /// Runs a Python script; it has `call`, `send` and `fails`, each with interface, method and arguments.
    func run(_ script: String) async throws -> CommandResult {
        try await Command.python(RawCaller.prelude + script, environment: bus.environment)
    }

    private static let prelude = """
        import dbus, dbus.lowlevel
        PROPERTIES = 'org.freedesktop.DBus.Properties'
        bus = dbus.SessionBus(private=True)

        def message(interface, method, arguments, signature=None):
            message = dbus.lowlevel.MethodCallMessage('\(TestServer.name)', '\(TestObject.path)', interface, method)
            message.append(*arguments, **({'signature': signature} if signature else {}))
            return message

        def call(interface, method, *arguments, signature=None):
            return bus.send_message_with_reply_and_block(message(interface, method, arguments, signature), 30)

        def send(interface, method, *arguments):
            quiet = message(interface, method, arguments)
            quiet.set_no_reply(True)
            bus.send_message(quiet)

        def fails(error, interface, method, *arguments):
            try:
                call(interface, method, *arguments)
            except dbus.DBusException as caught:
                assert caught.get_dbus_name().endswith('.' + error), caught
            else:
                raise AssertionError(method + ' has not failed')


        """
}
