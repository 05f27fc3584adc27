import DBus
import Foundation

/// A script that is a pinentry as far as the test wants it to be.
package final class FakePinentry: Sendable {
    /// The path of the script.
    package let path: String

    /// The folder that the script is in, for `PATH`.
    package var folderPath: String { folder.path }

    private let folder: TemporaryFolder
    private let reader: ChildProcess
    private let pipe: FileDescriptor

    /// Writes the script.
    ///
    /// - Parameters:
    ///   - greeting: shell commands that come first; `event TEXT` tells the test something.
    ///   - flavor: what it says it is.
    ///   - answers: `case` branches of the shell by the line that was read, such as `GETPIN) echo OK;;`; all else is answered `OK`.
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
        // By another process: what this one has open for writing, a child that is just being started may have too, and a file that
        // is being written cannot be run.
        path = folder.path("pinentry")
        let copy = try await Command.run("install", ["-m", "700", text, path])
        guard copy.succeeded else { throw POSIXError(.EIO) }
        guard mkfifo(folder.path("events"), 0o600) == 0 else { throw POSIXError(.EIO) }
        // Open for writing too, so that it does not end between two scripts.
        reader = try ChildProcess("bash", ["-c", "exec cat <>'\(folder.path("events"))'"])
        // For reading too, so that this does not wait for the reader.
        pipe = FileDescriptor(owning: open(folder.path("events"), O_RDWR | O_CLOEXEC))
        guard pipe.rawValue >= 0 else { throw POSIXError(.EIO) }
    }

    private var events: Recorder<String> { reader.standardOutput.lines }

    /// What the script has told before it gave the answer that the test has, line by line: its process id, then what it was sent.
    package func told() async throws -> [String] {
        // Behind all of that in the same pipe: what the script tells comes by another way than its answers, and perhaps later.
        let mark = "mark \(UUID().uuidString)"
        let line = mark + "\n"
        guard write(pipe.rawValue, line, line.utf8.count) == line.utf8.count else { throw POSIXError(.EIO) }
        _ = try await events.first("the mark") { $0 == mark }
        return events.all.prefix { $0 != mark }.filter { !$0.hasPrefix("mark ") }
    }

    /// Waits until the script tells something.
    @discardableResult
    package func event(_ what: String, where matches: @escaping @Sendable (String) -> Bool) async throws -> String {
        try await events.first(what, where: matches)
    }

    /// The id of the process that runs the script, or of the one that runs it next.
    package func processID(after start: Int = 0) async throws -> Int32 {
        let event = try await events.first("the script's process id", after: start) { $0.hasPrefix("pid ") }
        return try Int32(event.dropFirst("pid ".count)) ?? { throw POSIXError(.ESRCH) }()
    }
}
