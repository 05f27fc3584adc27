import Foundation
import TestSupport

/// An example's built program, with the keychain that it uses.
struct Example {
    let daemon: KeychainDaemon
    private let name: String
    /// What the daemon finds before the system's programs.
    private let programs: TemporaryFolder

    /// Runs a test with a keychain of its own, whose password is `password`; the daemon asks on the program's terminal, by
    /// `pinentry-tty`, whatever else is installed.
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

    /// The folder of this example's sources.
    var folder: String {
        let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return project.appendingPathComponent("Examples/\(name)").path
    }

    /// The program, which was built with the tests.
    var program: String { Example.program(name) }

    /// The program of an example.
    static func program(_ name: String) -> String {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// Starts it with some arguments on a terminal.
    func start(_ arguments: String = "", on terminal: TestTerminal) throws -> ChildProcess {
        try terminal.run("exec \(program) \(arguments)", environment: daemon.environment)
    }

    /// Runs it, or another program of its folder, to the end, without a terminal.
    func run(_ other: String? = nil, _ arguments: String..., input: String = "") async throws -> CommandResult {
        try await Command.run(
            other.map { "\(folder)/\($0)" } ?? program,
            arguments,
            environment: daemon.environment,
            input: Array(input.utf8)
        )
    }
}
