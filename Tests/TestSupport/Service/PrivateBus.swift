import Glibc
package import KeychaindDBus

/// A private bus; this object's end stops it and closes the connections that it has opened.
package final class PrivateBus: Sendable {
    /// The address for `DBUS_SESSION_BUS_ADDRESS`.
    package let address: String
    private let folder: TemporaryFolder
    private let daemon: ChildProcess
    /// The event loop keeps a connection that a test has left open, and looks at it in each turn.
    @BusActor private var connections: [Opened] = []

    private struct Opened: Sendable {
        weak var connection: Connection?
    }

    /// Starts dbus-daemon and waits until it listens.
    ///
    /// - Parameters:
    ///   - socket: the path of the bus socket, to replace an earlier bus.
    ///   - environment: changes to the environment of dbus-daemon and the services that it starts.
    package init(
        services: [ActivatableService] = [],
        socket: String? = nil,
        environment: [String: String?] = [:]
    ) async throws {
        // Only the event-loop thread may use a connection, and no other code starts it in a test.
        EventLoop.startThread()
        try LockedMemory.prepare()
        folder = try TemporaryFolder()
        let serviceFolder = try folder.makeFolder("services")
        for service in services {
            try folder.write(service.file, to: "services/\(service.name).service")
        }
        let configuration = try folder.write(
            PrivateBus.configuration(socket: socket ?? folder.path("bus"), services: serviceFolder),
            to: "bus.conf"
        )
        daemon = try ChildProcess(
            "dbus-daemon",
            ["--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address"],
            environment: environment
        )
        address = try await daemon.standardOutput.lines.first("the address of the bus")
    }

    deinit {
        daemon.end()
        let connections = connections
        Task { @BusActor in
            for opened in connections { opened.connection?.close(flushing: false) }
        }
    }

    /// The environment for programs on this bus.
    package var environment: [String: String?] {
        ["DBUS_SESSION_BUS_ADDRESS": address, "DBUS_STARTER_ADDRESS": nil]
    }

    /// Connects to the bus.
    @BusActor
    package func connect() throws(BusError) -> Connection {
        let connection = try Connection(.address(address))
        connections.append(Opened(connection: connection))
        return connection
    }

    /// Kills the bus.
    package func kill() async throws {
        try await daemon.kill()
    }

    /// Suspends the bus until ``resume()`` or ``kill()``.
    ///
    /// Tests resume it in a `defer`: closing a connection waits until the bus has read the queue, and blocks the
    /// event-loop thread of all tests.
    package func pause() {
        daemon.send(SIGSTOP)
    }

    /// Resumes the bus.
    package func resume() {
        daemon.send(SIGCONT)
    }

    private static func configuration(socket: String, services: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>unix:path=\(socket)</listen>
          <auth>EXTERNAL</auth>
          <servicedir>\(services)</servicedir>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
          </policy>
          <limit name="max_incoming_bytes">1000000000</limit>
          <limit name="max_outgoing_bytes">1000000000</limit>
          <limit name="max_message_size">134217728</limit>
          <limit name="max_replies_per_connection">100000</limit>
          <limit name="max_match_rules_per_connection">100000</limit>
          <limit name="max_pending_service_starts">10000</limit>
          <limit name="service_start_timeout">\(Patience.limit.components.seconds)000</limit>
        </busconfig>

        """
    }
}

/// A program that the bus starts for its name.
package struct ActivatableService: Sendable {
    package let name: String
    /// The program's absolute path and its arguments.
    package let command: [String]

    package init(name: String, command: [String]) {
        self.name = name
        self.command = command
    }

    /// The content of its `.service` file.
    var file: String {
        let words = command.map { "\"\($0)\"" }.joined(separator: " ")
        return "[D-BUS Service]\nName=\(name)\nExec=\(words)\n"
    }
}
/// Waits for changes of a bus name's owner.
package final class NameWatch: Sendable {
    private let owners = Recorder<String>()
    private let connection: Connection
    private let name: String

    /// Starts to watch the name.
    package init(_ name: String, on bus: PrivateBus) async throws {
        self.name = name
        connection = try await bus.connect()
        await start()
    }

    @BusActor
    private func start() {
        let (name, owners) = (name, owners)
        let match = SignalMatch(
            sender: "org.freedesktop.DBus",
            interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged"
        )
        connection.subscribe(to: match) { message in
            guard let (changed, _, owner) = try? message.read(String.self, String.self, String.self) else { return }
            if changed == name {
                owners.record(owner)
            }
        }
    }

    deinit {
        let connection = connection
        Task { @BusActor in connection.close(flushing: false) }
    }

    /// Waits until the name has an owner; fails if the process ends before.
    package func waitForOwner(unless process: ChildProcess, within limit: Duration = Patience.limit) async throws {
        let ending = Task { [owners] in
            _ = try await process.waitForExit(within: limit)
            owners.finish()
        }
        defer { ending.cancel() }
        _ = try await owners.first("the owner of \(name)", within: limit) { !$0.isEmpty }
    }

    /// Waits until the name has no owner.
    package func waitForVacancy(within limit: Duration = Patience.limit) async throws {
        _ = try await owners.first("the end of the owner of \(name)", within: limit) { $0.isEmpty }
    }
}
