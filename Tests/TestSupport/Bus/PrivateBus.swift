package import DBus
import Gcrypt
import Glibc

/// A bus of a test's own; its daemon ends with this object.
package final class PrivateBus: Sendable {
    /// The address for `DBUS_SESSION_BUS_ADDRESS`.
    package let address: String
    private let folder: TemporaryFolder
    private let daemon: ChildProcess

    /// Starts the daemon, and waits until it listens.
    ///
    /// - Parameters:
    ///   - socket: the path at which the bus listens, for a bus that comes back where another was.
    ///   - isForEveryone: whether other users may connect, as they may to the system's bus.
    ///   - environment: changes to the environment of the daemon and of what it starts.
    package init(
        services: [ActivatableService] = [],
        socket: String? = nil,
        isForEveryone: Bool = false,
        environment: [String: String?] = [:]
    ) async throws {
        // The loop's thread is the only one that may use a connection, and in a test nobody else starts it.
        EventLoop.startThread()
        // The first to ask decides for the process how much there is: vaults need more than what clients and prompters would take.
        _ = try Gcrypt.initialize(lockedBytes: 16 << 20)
        folder = try TemporaryFolder()
        if isForEveryone {
            chmod(folder.path, 0o711)
        }
        let serviceFolder = try folder.makeFolder("services")
        for service in services {
            try folder.write(service.file, to: "services/\(service.name).service")
        }
        let configuration = try folder.write(
            PrivateBus.configuration(
                socket: socket ?? folder.path("bus"),
                services: serviceFolder,
                users: isForEveryone ? "<allow user=\"*\"/>" : ""
            ),
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
    }

    /// What a program's environment needs to find this bus, and no other.
    package var environment: [String: String?] {
        ["DBUS_SESSION_BUS_ADDRESS": address, "DBUS_STARTER_ADDRESS": nil]
    }

    /// Connects to the bus.
    @BusActor
    package func connect() throws(BusError) -> Connection {
        try Connection(.address(address))
    }

    /// Ends the bus under everybody.
    package func kill() async throws {
        try await daemon.kill()
    }

    /// Stops the bus from doing anything, until it goes on or is killed.
    ///
    /// A test resumes it in a `defer`: what closes a connection waits until the bus has taken what is queued, and with the loop's thread
    /// all tests would.
    package func pause() {
        daemon.send(SIGSTOP)
    }

    /// Lets the bus go on.
    package func resume() {
        daemon.send(SIGCONT)
    }

    private static func configuration(socket: String, services: String, users: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>unix:path=\(socket)</listen>
          <auth>EXTERNAL</auth>
          <servicedir>\(services)</servicedir>
          <policy context="default">
            \(users)
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
