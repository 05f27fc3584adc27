import DBus
import TestSupport
import Testing

/// What clients can make the daemon hold in memory.
@Suite struct MemoryTests {
    @Test func largeSecrets_askedForAtOnce_areNotAllInMemory() async throws {
        let service = try await RunningService()
        let client = service.client
        let session = try await client.openPlainSession()
        let secret = WireSecret(session: session, value: [UInt8](repeating: 1, count: 16 << 20))
        let item = try await client.createItem(properties: [:], secret: secret).item
        let process = try ChildProcess(
            "/usr/bin/python3",
            ["-c", MemoryTests.deafClient, item.rawValue],
            environment: service.daemon.environment
        )
        _ = try await process.standardOutput.lines.first("the calls of the deaf client") { $0 == "sent" }
        // Answered after all of those, as it came after them.
        #expect(try await client.secrets(of: [item], session: session)[item]?.value.count == 16 << 20)
        let peak = try ProcessStatus(of: service.daemon.child.id).field("VmHWM")?.split(separator: " ").first
        #expect(try #require(peak.flatMap { Int($0) }) < 250 << 10)
        try await process.kill()
        try await service.daemon.stop()
    }

    /// Asks for 640 MiB of secrets and reads nothing of them.
    private static let deafClient = """
        import sys, time, dbus, dbus.lowlevel
        bus = dbus.SessionBus()
        service = bus.get_object('org.freedesktop.secrets', '/org/freedesktop/secrets')
        _, session = dbus.Interface(service, 'org.freedesktop.Secret.Service').OpenSession('plain', '')
        for _ in range(40):
            call = dbus.lowlevel.MethodCallMessage(
                'org.freedesktop.secrets', sys.argv[1], 'org.freedesktop.Secret.Item', 'GetSecret')
            call.append(dbus.ObjectPath(session))
            bus.send_message(call)
        bus.flush()
        print('sent', flush=True)
        time.sleep(600)
        """
}
