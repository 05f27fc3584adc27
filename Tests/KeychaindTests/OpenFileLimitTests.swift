import KeychaindTestSupport
import Testing

/// A daemon that is started with a low limit for open files.
@Suite struct OpenFileLimitTests {
    private func start(_ launch: Launch, on bus: PrivateBus, limit: String) async throws -> ChildProcess {
        let watch = try await NameWatch(KeychainDaemon.busName, on: bus)
        let process = try ChildProcess(
            "/usr/bin/prlimit",
            ["--nofile=\(limit)", KeychainDaemon.executable],
            environment: launch.environment,
            keeping: launch.folder
        )
        try await watch.waitForOwner(unless: process)
        return process
    }

    @Test("calls with many descriptors do not end a daemon that was started with a low limit for open files")
    func start_withALowLimit_raisesIt() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let process = try await start(launch, on: bus, limit: "128:4096")
        let result = try await Command.python(flood, environment: launch.environment)
        #expect(result.succeeded, "\(result.errors)")
        #expect(try await process.terminate() == .success)
    }

    @Test("with few open files that cannot be more, the log says so, and calls with some descriptors do no harm")
    func start_withALowMaximum_warns_andServes() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let process = try await start(launch, on: bus, limit: "128:128")
        _ = try await process.standardError.lines.first("the warning") { $0.contains("Few files may be open") }
        let result = try await Command.python(flood, environment: launch.environment)
        #expect(result.succeeded, "\(result.errors)")
        #expect(try await process.terminate() == .success)
    }

    /// A hundred calls at once, with 16 descriptors each.
    private let flood = """
        import dbus, dbus.lowlevel, os
        bus = dbus.SessionBus(private=True)
        null = os.open('/dev/null', os.O_RDONLY)

        for _ in range(100):
            message = dbus.lowlevel.MethodCallMessage('org.freedesktop.secrets', '/org/freedesktop/secrets',
                'org.freedesktop.Secret.Service', 'SearchItems')
            message.append([dbus.types.UnixFd(null) for _ in range(16)], signature='ah')
            bus.send_message(message)
        bus.call_blocking('org.freedesktop.secrets', '/', 'org.freedesktop.DBus.Peer', 'Ping', '', ())
        """
}
