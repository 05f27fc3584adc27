import KeychaindDBus
import KeychaindTestSupport

/// A service in dbus-python that echoes its arguments.
@BusActor
final class EchoPeer {
    private let bus: PrivateBus
    private let process: ChildProcess
    let connection: Connection

    init() async throws {
        bus = try await PrivateBus()
        process = try ChildProcess("/usr/bin/python3", ["-c", EchoPeer.script], environment: bus.environment)
        _ = try await process.standardOutput.lines.first("the peer") { $0 == "ready" }
        connection = try bus.connect()
    }

    deinit {
        let connection = connection
        Task { @BusActor in connection.close() }
    }

    /// Sends values to the echo service and returns the reply.
    func echo(_ write: (Message) -> Void) async throws(BusError) -> Message {
        let message = Message.call(to: "org.example.Peer", .root, "org.example.Echo", "Echo")
        write(message)
        return try await connection.call(message)
    }

    private static let script = """
        import dbus, dbus.lowlevel, dbus.mainloop.glib
        from gi.repository import GLib
        dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
        bus = dbus.SessionBus()

        def echo(bus, message):
            if not isinstance(message, dbus.lowlevel.MethodCallMessage):
                return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
            reply = dbus.lowlevel.MethodReturnMessage(message)
            reply.append(*message.get_args_list(), signature=message.get_signature())
            bus.send_message(reply)
            return dbus.lowlevel.HANDLER_RESULT_HANDLED

        bus.add_message_filter(echo)
        bus.request_name('org.example.Peer')
        print('ready', flush=True)
        GLib.MainLoop().run()
        """
}

/// dbus-python as a client of ``TestObject``, for messages that this implementation does not send.
struct RawCaller {
    private let bus: PrivateBus

    init(_ bus: PrivateBus) {
        self.bus = bus
    }

    /// Runs a Python script with the functions `call`, `send` and `fails`, each of which takes an interface, a method
    /// and arguments.
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
