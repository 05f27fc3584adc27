/// Runs programs to their end.
package enum Command {
    /// Runs a program, and waits for its end.
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

    /// Runs a script with the system's Python, whose packages `python3-dbus` and `python3-gi` it may import.
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
