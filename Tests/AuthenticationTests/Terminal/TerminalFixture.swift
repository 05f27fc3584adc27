import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Logging
import Testing

/// A prompter for a caller on a private terminal.
@BusActor
final class TerminalFixture {
    let terminal: TestTerminal
    let prompter: TerminalPrompter
    let requester: TestRequester

    private let launcher: PinentryLauncher
    private let bus: PrivateBus
    private let connection: Connection
    private let process: ChildProcess
    private let processID: Int32
    private var callerHasEnded = false

    /// - Parameters:
    ///   - programs: the pinentries to try.
    ///   - command: the caller's command; it prints "started" and its process id.
    ///   - variables: changes to the daemon's environment.
    ///   - isJudged: whether the trust in the dialog is examined.
    init(
        _ programs: [String],
        command: String = "echo started; exec sleep 1000",
        variables: [String: String] = [:],
        isJudged: Bool = false
    ) async throws {
        terminal = try TestTerminal()
        bus = try await PrivateBus()
        connection = try bus.connect()
        process = try terminal.run("echo $$ >&3; \(command)")
        let id = try await process.standardOutput.lines.first("the caller's process id")
        try await terminal.waitFor("started")
        processID = try #require(Int32(id))
        var credentials = ConnectionCredentials()
        credentials.processID = UInt32(processID)
        let insight = try ProcessInspector().inspect(credentials)
        launcher = PinentryLauncher(
            trustsAll: !isJudged,
            logger: .silent,
            grace: Patience.limit,
            commandTimeout: Patience.limit
        )
        requester = TestRequester(connection.uniqueName, insight: insight)
        prompter = TerminalPrompter(
            launcher: launcher,
            programs: programs,
            environment: ["PATH": "/usr/local/bin:/usr/bin:/bin"].merging(variables) { $1 }
        )
    }

    isolated deinit {
        launcher.close()
        connection.close()
        endCaller()
    }

    /// Ends the caller's session, once, as its process id is reused later.
    func endCaller() {
        guard !callerHasEnded else { return }
        callerHasEnded = true
        kill(processID, SIGKILL)
    }

    /// Opens a dialog on the caller's terminal.
    func open() async throws(PromptError) -> any PromptDialog {
        try await prompter.open(for: requester, asking: .password)
    }
}
