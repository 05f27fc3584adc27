import KeychaindTestSupport

/// The method calls on a bus, as `dbus-monitor` prints them.
final class CallMonitor: Sendable {
    private let process: ChildProcess
    private let bus: PrivateBus

    /// Starts watching; returns once it does.
    init(_ bus: PrivateBus) async throws {
        self.bus = bus
        process = try ChildProcess("dbus-monitor", ["--address", bus.address, "--profile", "type='method_call'"])
        // A monitor loses its name on the bus when it becomes one.
        _ = try await process.standardOutput.lines.first("the monitor's start") { $0.hasSuffix("NameLost") }
    }

    deinit {
        process.send(9)
    }

    /// The calls of a closure to the Secret Service, as interface and member.
    func calls(during body: () async throws -> Void) async throws -> [String] {
        let lines = process.standardOutput.lines
        let start = lines.count
        try await body()
        // A call of this test is the last one.
        let mark = lines.count
        _ = try await Command.run(
            "dbus-send",
            [
                "--bus=\(bus.address)", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                "org.freedesktop.DBus.Peer.Ping",
            ]
        )
        _ = try await lines.first("the end of the calls", after: mark) { $0.hasSuffix("\tPing") }
        return lines.all[start...].compactMap { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 8, fields[0] == "mc", fields[5].hasPrefix("/org/") else { return nil }
            return fields[6].hasPrefix("org.freedesktop.DBus") && fields[5] == "/org/freedesktop/DBus"
                ? nil : fields[6].split(separator: ".").last.map { "\($0).\(fields[7])" }
        }
    }
}
