import DBus
import Desktop
import Logging
import TestSupport

/// A monitor of a session, and what it has told.
@BusActor
final class SessionFixture {
    let monitor: SessionMonitor
    let events = Recorder<SessionEvent>()
    let lines = Recorder<LogRecorder.Line>()
    private let systemBus: SystemBus

    /// Begins to watch.
    init(
        address: String,
        sessionID: String? = nil,
        delaysSleep: Bool = false,
        callTimeout: Duration = .seconds(300),
        confirmationTime: Duration = .seconds(300)
    ) {
        var configuration = SessionMonitor.Configuration()
        configuration.sessionID = sessionID
        configuration.callTimeout = callTimeout
        configuration.confirmationTime = confirmationTime
        systemBus = SystemBus(address: address, pause: .milliseconds(1), logger: .silent)
        monitor = SessionMonitor(
            systemBus: systemBus,
            configuration: configuration,
            logger: Logger(recordingTo: lines)
        )
        monitor.onEvent { [events] in events.record($0) }
        if delaysSleep { monitor.delaySleep() }
        monitor.start()
    }

    /// Leaves the bus.
    func end() {
        systemBus.close()
    }

    /// Waits until the state is known, and told by a line after a number of others.
    func waitUntilKnown(after start: Int = 0) async throws {
        _ = try await lines.first("the session", after: start) { $0.text.hasPrefix("Watching the session") }
    }

    /// Waits until a session is the one that is watched.
    func waitUntilWatching(_ session: String) async throws {
        _ = try await lines.first("session \(session)") {
            $0.text.hasPrefix("Watching the session") && $0.text.contains(session)
        }
    }

    /// Waits for an event that comes after a number of others.
    func expect(_ event: SessionEvent, after start: Int = 0) async throws {
        _ = try await events.first("\(event)", after: start) { $0 == event }
    }

    /// The monitor's name on the bus.
    func connectionName() async throws -> String {
        try await systemBus.connection().uniqueName
    }

    /// Waits until all has been handled that was sent before.
    func settle() async throws {
        let connection = try await systemBus.connection()
        _ = try await connection.owner(of: connection.uniqueName)
        await BusActor.loop.wait(for: .zero)
    }
}
