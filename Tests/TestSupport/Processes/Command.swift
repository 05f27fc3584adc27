/// Runs programs and waits for them.
package enum Command {
    /// Runs a program and waits for its end.
    ///
    /// The parameters are those of ``ChildProcess/init(_:_:environment:input:)``.
    package static func run(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String?] = [:],
        input: [UInt8] = [],
        within limit: Duration = Patience.limit
    ) async throws -> CommandResult {
        let process = try ChildProcess(executable, arguments, environment: environment, input: input)
        let status = try await process.waitForExit(within: limit)
        return CommandResult(
            status: status,
            output: try await process.standardOutput.bytes(),
            errors: try await process.standardError.text()
        )
    }

    /// Runs a script with the system's Python, which has `python3-dbus` and `python3-gi`.
    package static func python(
        _ script: String,
        _ arguments: [String] = [],
        environment: [String: String?] = [:],
        within limit: Duration = Patience.limit
    ) async throws -> CommandResult {
        try await run(
            "/usr/bin/python3",
            ["-"] + arguments,
            environment: environment,
            input: Array(script.utf8),
            within: limit
        )
    }
}

/// Exit status and output of a finished command.
package struct CommandResult: Sendable {
    package let status: ExitStatus
    package let output: [UInt8]
    package let errors: String

    /// The output as text.
    package var text: String { String(decoding: output, as: UTF8.self) }

    package var succeeded: Bool { status == .success }
}
