import Foundation
import KeychaindTestSupport

/// The built program of an example, with a keychain of its own.
struct Example {
    let daemon: KeychainDaemon
    private let name: String
    /// A folder of programs that precede the system's for the daemon.
    private let programs: TemporaryFolder

    /// Runs a test with a keychain whose password is `password`.
    ///
    /// The daemon asks on the program's terminal, with `pinentry-tty`, even if others are installed.
    static func with(
        _ name: String,
        environment: [String: String?] = [:],
        _ body: (Example) async throws -> Void
    ) async throws {
        let programs = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: programs.path("pinentry"),
            withDestinationPath: "/usr/bin/pinentry-tty"
        )
        var options = KeychainDaemon.Options()
        options.arguments = ["--prompters", "tty"]
        options.environment = environment
        options.environment["PATH"] = "\(programs.path):/usr/bin:/bin"
        try await RunningService.withService(options) { service in
            try await body(Example(daemon: service.daemon, name: name, programs: programs))
        }
    }

    /// The folder of the example's sources.
    var folder: String {
        let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return project.appendingPathComponent("Examples/\(name)").path
    }

    /// The program, built with the tests.
    var program: String { KeychainDaemon.product("KeychaindExample\(name)") }

    /// Starts the program on a terminal.
    func start(_ arguments: String = "", on terminal: TestTerminal) throws -> ChildProcess {
        try terminal.run("exec \(program) \(arguments)", environment: daemon.environment)
    }

    /// Runs the program, or another one in its folder, to the end without a terminal.
    func run(_ other: String? = nil, _ arguments: String..., input: String = "") async throws -> CommandResult {
        try await Command.run(
            other.map { "\(folder)/\($0)" } ?? program,
            arguments,
            environment: daemon.environment,
            input: Array(input.utf8)
        )
    }
}
