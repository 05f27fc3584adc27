import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Logging

/// A prompter with a fake pinentry.
@BusActor
final class PinentryFixture {
    let prompter: PinentryPrompter
    let launcher: PinentryLauncher
    private let bus: PrivateBus
    let screen: FakeScreen
    private let display: FileDescriptor
    private let connection: Connection

    /// - Parameters:
    ///   - isJudged: whether the trust in the program is examined.
    ///   - x11Folder: has the displays, if that is examined; by default one where this process listens.
    ///   - environment: the session environment.
    ///   - timeout: the time limit of a question; longer than a test unless tested.
    ///   - grace: the extra time for the pinentry's own timeout.
    ///   - commandTimeout: the time limit of commands without a person.
    init(
        _ programs: String...,
        isJudged: Bool = false,
        x11Folder: String? = nil,
        environment: [String: String?] = ["DISPLAY": ":fake"],
        timeout: Duration = .seconds(300),
        grace: Duration = .seconds(300),
        commandTimeout: Duration = .seconds(300)
    ) async throws {
        bus = try await PrivateBus()
        connection = try bus.connect()
        let path = ["PATH": "/usr/local/bin:/usr/bin:/bin"]
        let own = path.merging(environment.compactMapValues { $0 }) { $1 }
        screen = try await FakeScreen(type: "x11", x11Folder: x11Folder)
        display = try screen.listen("x11/X0")
        launcher = PinentryLauncher(
            trustsAll: !isJudged,
            logger: .silent,
            timeout: timeout,
            grace: grace,
            commandTimeout: commandTimeout
        )
        prompter = PinentryPrompter(
            launcher: launcher,
            programs: programs,
            environment: SessionEnvironment(own: own, connection: connection, timeout: Patience.limit),
            displays: isJudged ? screen.displays : nil
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
