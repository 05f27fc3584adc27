import Authentication
import DBus
import Logging
import TestSupport

/// A prompter with a pinentry of the test's.
@BusActor
final class PinentryFixture {
    let prompter: PinentryPrompter
    let launcher: PinentryLauncher
    private let bus: PrivateBus
    private let connection: Connection

    /// - Parameters:
    ///   - isJudged: whether it is found out how far to trust the program.
    ///   - environment: what the daemon knows of the session.
    ///   - timeout: how long a question may wait: longer than a test runs, unless it is about that.
    ///   - grace: for how much longer the pinentry may say so by itself.
    ///   - commandTimeout: the same for what needs no person.
    init(
        _ program: String,
        isJudged: Bool = false,
        environment: [String: String?] = ["DISPLAY": ":fake"],
        timeout: Duration = .seconds(300),
        grace: Duration = .seconds(300),
        commandTimeout: Duration = .seconds(300)
    ) async throws {
        bus = try await PrivateBus()
        connection = try bus.connect()
        let path = ["PATH": "/usr/local/bin:/usr/bin:/bin"]
        let own = path.merging(environment.compactMapValues { $0 }) { $1 }
        launcher = PinentryLauncher(
            inspector: isJudged ? SessionPrompterInspector(connection: connection, logger: .silent) : nil,
            logger: .silent,
            timeout: timeout,
            grace: grace,
            commandTimeout: commandTimeout
        )
        prompter = PinentryPrompter(
            launcher: launcher,
            program: program,
            environment: SessionEnvironment(own: own, connection: connection)
        )
    }

    isolated deinit {
        launcher.close()
        connection.close()
    }

    /// Opens a dialog, asks one question, and closes the dialog.
    func answer(_ request: PromptRequest) async throws -> Answer {
        let dialog = try await prompter.open()
        defer { dialog.close() }
        return try await dialog.answer(request)
    }
}
