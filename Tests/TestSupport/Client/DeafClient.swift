package import KeychaindDBus

/// A client that keeps asking for an item's secret and reads no answer.
package struct DeafClient {
    private let process: ChildProcess

    /// Starts the client and waits until it has sent all calls.
    package init(askingFor item: ObjectPath, times: Int, environment: [String: String?]) async throws {
        process = try ChildProcess(
            "/usr/bin/python3",
            ["-c", DeafClient.script, item.rawValue, String(times)],
            environment: environment
        )
        _ = try await process.standardOutput.lines.first("the calls of the deaf client") { $0 == "sent" }
    }

    /// Ends the client.
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
