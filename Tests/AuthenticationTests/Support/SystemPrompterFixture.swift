import Foundation
import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The real `gcr-prompter` on a private screen and bus; the bus starts it.
final class SystemPrompterFixture: Sendable {
    let screen: Screen
    private let bus: PrivateBus
    private let connection: Connection
    private let folder: TemporaryFolder

    /// - Parameter environment: changes to the prompter's environment.
    init(environment: [String: String?] = [:]) async throws {
        screen = try await Screen()
        folder = try TemporaryFolder()
        let folders: [String: String?] = ["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
        let program = try SystemPrompterFixture.findProgram()
        bus = try await PrivateBus(
            services: [ActivatableService(name: GCRPrompter.busName, command: [program])],
            environment: screen.environment.merging(folders) { $1 }.merging(environment) { $1 }
        )
        connection = try await bus.connect()
    }

    deinit {
        let connection = connection
        Task { @BusActor in connection.close() }
    }

    /// A prompter on the connection of all dialogs.
    @BusActor
    func makePrompter() -> GCRPrompter {
        GCRPrompter(connection: connection, logger: .silent, callTimeout: Patience.limit)
    }

    /// Opens a dialog, runs the test, and closes the dialog.
    @BusActor
    func withDialog(_ body: @BusActor (SystemPrompterFixture, any PromptDialog) async throws -> Void) async throws {
        let dialog = try await makePrompter().open()
        defer { dialog.close() }
        try await body(self, dialog)
    }

    /// Asks, and answers with keys once the dialog accepts them.
    ///
    /// - Parameters:
    ///   - start: the number of screen events before the dialog.
    ///   - sign: the screen event that shows a ready dialog.
    @BusActor
    func ask(
        _ request: PromptRequest,
        in dialog: any PromptDialog,
        after start: Int = 0,
        isReady sign: ScreenEvent = .keyboardGrabbed,
        answering: @BusActor (Screen) async throws -> Void
    ) async throws -> Answer {
        let answer = Task.immediate { @BusActor in try await dialog.answer(request) }
        _ = try await screen.events.first("the dialog", after: start) { $0 == sign }
        try await answering(screen)
        return try await answer.value
    }

    /// Kills the prompter.
    @BusActor
    func killPrompter() async throws {
        let bus = "org.freedesktop.DBus"
        let call = Message.call(to: bus, .root, bus, "GetConnectionUnixProcessID")
        call.append(GCRPrompter.busName)
        let id = try await connection.call(call).read(UInt32.self)
        #expect(kill(pid_t(id), SIGKILL) == 0)
    }

    /// The prompter of the package `gcr`, which is not in the search path.
    private static func findProgram() throws -> String {
        let candidates = ["/usr/libexec/gcr-prompter", "/usr/lib/gcr-prompter", "/usr/lib/gcr/gcr-prompter"]
        let found = candidates.first { FileManager.default.isExecutableFile(atPath: $0) }
        return try #require(found, "the package gcr has to be installed")
    }
}
