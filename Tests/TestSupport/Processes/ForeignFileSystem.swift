import Foundation

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
