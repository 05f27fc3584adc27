import Foundation
import KeychaindDBus

/// A pinentry as a script, with the behaviour that a test needs.
package final class FakePinentry: Sendable {
    /// The path of the script.
    package let path: String

    /// The folder of the script, for `PATH`.
    package var folderPath: String { folder.path }

    private let folder: TemporaryFolder
    private let reader: ChildProcess
    private let pipe: FileDescriptor

    /// Writes the script.
    ///
    /// - Parameters:
    ///   - greeting: shell commands to run first; `event TEXT` sends the test an event.
    ///   - flavor: its answer to `GETINFO flavor`.
    ///   - answers: `case` branches for lines of input, such as `GETPIN) echo OK;;`; the default answer is `OK`.
    package init(greeting: String = "echo OK ready", flavor: String = "fake", answers: String = "") async throws {
        folder = try TemporaryFolder()
        let text = try folder.write(
            """
            #!/bin/bash
            exec 9>'\(folder.path("events"))'
            event() { echo "$*" >&9; }
            event "pid $$"
            \(greeting)
            while read -r line; do
                event "$line"
                case $line in
                    \(answers)
                    'GETINFO flavor') printf 'D %s\\nOK\\n' '\(flavor)';;
                    *) echo OK;;
                esac
            done
            """,
            to: "script"
        )
        // Written by another process: a child of this one could inherit the open file, and a file open for writing
        // cannot be executed.
        path = folder.path("pinentry")
        let copy = try await Command.run("install", ["-m", "700", text, path])
        guard copy.succeeded else { throw POSIXError(.EIO) }
        guard mkfifo(folder.path("events"), 0o600) == 0 else { throw POSIXError(.EIO) }
        // Open for writing too, so that it stays open between two scripts.
        reader = try ChildProcess("bash", ["-c", "exec cat <>'\(folder.path("events"))'"])
        // Open for reading too, so that opening does not wait for the reader.
        pipe = FileDescriptor(owning: open(folder.path("events"), O_RDWR | O_CLOEXEC))
        guard pipe.rawValue >= 0 else { throw POSIXError(.EIO) }
    }

    private var events: Recorder<String> { reader.standardOutput.lines }

    /// The events of the script before the answer that the test has received: its process id, then its input lines.
    package func told() async throws -> [String] {
        // A mark after them in the same pipe: events take another way than answers, and may arrive later.
        let mark = "mark \(UUID().uuidString)"
        let line = mark + "\n"
        guard write(pipe.rawValue, line, line.utf8.count) == line.utf8.count else { throw POSIXError(.EIO) }
        _ = try await events.first("the mark") { $0 == mark }
        return events.all.prefix { $0 != mark }.filter { !$0.hasPrefix("mark ") }
    }

    /// Waits for an event of the script.
    @discardableResult
    package func event(_ what: String, where matches: @escaping @Sendable (String) -> Bool) async throws -> String {
        try await events.first(what, where: matches)
    }

    /// The id of the current or next process that runs the script.
    package func processID(after start: Int = 0) async throws -> Int32 {
        let event = try await events.first("the script's process id", after: start) { $0.hasPrefix("pid ") }
        return try Int32(event.dropFirst("pid ".count)) ?? { throw POSIXError(.ESRCH) }()
    }
}
