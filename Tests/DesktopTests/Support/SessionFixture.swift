import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Logging

/// A session monitor and its events.
@BusActor
final class SessionFixture {
    let monitor: SessionMonitor
    let events = Recorder<SessionEvent>()
    let lines = Recorder<LogRecorder.Line>()
    private let systemBus: SystemBus

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
        configuration.pause = .milliseconds(1)
        configuration.confirmationTime = confirmationTime
        systemBus = SystemBus(address: address, timeout: Patience.limit, pause: .milliseconds(1), logger: .silent)
        monitor = SessionMonitor(
            systemBus: systemBus,
            configuration: configuration,
            logger: Logger(recordingTo: lines)
        )
        monitor.onEvent { [events] in events.record($0) }
        if delaysSleep { monitor.delaySleep() }
        monitor.start()
    }

    func end() {
        systemBus.close()
    }

    /// Waits until the state is known, and logged after a number of other lines.
    func waitUntilKnown(after start: Int = 0) async throws {
        _ = try await lines.first("the session", after: start) { $0.text.hasPrefix("Watching the session") }
    }

    /// Waits until a session is being watched.
    func waitUntilWatching(_ session: String) async throws {
        _ = try await lines.first("session \(session)") {
            $0.text.hasPrefix("Watching the session") && $0.text.contains(session)
        }
    }

    /// Waits for an event after a number of others.
    func expect(_ event: SessionEvent, after start: Int = 0) async throws {
        _ = try await events.first("\(event)", after: start) { $0 == event }
    }

    /// The monitor's unique name.
    func connectionName() async throws -> String {
        try await systemBus.connection().uniqueName
    }

    /// Waits until all earlier messages are handled.
    func settle() async throws {
        let connection = try await systemBus.connection()
        _ = try await connection.owner(of: connection.uniqueName)
        await BusActor.loop.wait(for: .zero)
    }
}
