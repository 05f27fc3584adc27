import DBus
import TestSupport

/// A service of another implementation that answers each call with the call's arguments.
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

    /// Sends values there and back.
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
