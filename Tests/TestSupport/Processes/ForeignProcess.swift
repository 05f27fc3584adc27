import Foundation
import Glibc

/// A process of another user.
package final class ForeignProcess: Sendable {
    /// The process id.
    package let id: Int32
    private let process: ChildProcess?

    /// Starts a process of `nobody`, if this is root; otherwise uses process 1.
    package init() async throws {
        guard geteuid() == 0 else {
            (id, process) = (1, nil)
            return
        }
        let arguments = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "sh", "-c", "echo; exec sleep 1000"]
        let child = try ChildProcess("setpriv", arguments)
        _ = try await child.standardOutput.lines.first("a process of another user")
        (id, process) = (child.id, child)
    }

    /// Ends the process, if the test started it.
    package func end() {
        process?.end()
    }
}

/// Tests that need a process with a file system of its own.
package enum ForeignFileSystem {
    /// Whether unshare(1) works on this machine.
    package static let isPossible: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = ["--map-root-user", "--mount", "true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}
