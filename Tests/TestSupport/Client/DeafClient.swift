package import DBus

/// A client that asks for the secret of an item again and again, and reads none of the answers.
package struct DeafClient {
    private let process: ChildProcess

    /// Starts it, and waits until all its calls are sent.
    package init(askingFor item: ObjectPath, times: Int, environment: [String: String?]) async throws {
        process = try ChildProcess(
            "/usr/bin/python3",
            ["-c", DeafClient.script, item.rawValue, String(times)],
            environment: environment
        )
        _ = try await process.standardOutput.lines.first("the calls of the deaf client") { $0 == "sent" }
    }

    /// Ends it, with all that waits for it.
    package func kill() async throws {
        try await process.kill()
    }

    private static let script = """
        import signal, sys, dbus, dbus.lowlevel
        bus = dbus.SessionBus()
        service = bus.get_object('org.freedesktop.secrets', '/org/freedesktop/secrets')
        _, session = dbus.Interface(service, 'org.freedesktop.Secret.Service').OpenSession('plain', '')
        for _ in range(int(sys.argv[2])):
            call = dbus.lowlevel.MethodCallMessage(
                'org.freedesktop.secrets', sys.argv[1], 'org.freedesktop.Secret.Item', 'GetSecret')
            call.append(dbus.ObjectPath(session))
            bus.send_message(call)
        bus.flush()
        print('sent', flush=True)
        signal.pause()
        """
}
