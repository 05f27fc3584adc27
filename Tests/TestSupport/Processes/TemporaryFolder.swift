import Foundation
import Synchronization

/// A temporary folder; this object's end removes it.
package final class TemporaryFolder: Sendable {
    /// The path, without a slash at the end.
    package let path: String

    /// Creates the folder, private to this user.
    package init() throws {
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        // Short, since a socket's path has at most 107 bytes.
        path = "\(base)/keychain-test-\(UUID().uuidString.prefix(13))"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        Leftovers.add(folder: path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        Leftovers.remove(folder: path)
    }

    /// Returns the path of an entry.
    package func path(_ name: String) -> String {
        "\(path)/\(name)"
    }

    /// Creates a subfolder.
    package func makeFolder(_ name: String) throws -> String {
        let path = path(name)
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        return path
    }

    /// Writes a file into the folder.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        let path = path(name)
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }
}

/// Processes and folders to remove when the test process ends: shared fixtures live until then.
enum Leftovers {
    private struct State {
        var processes: Set<pid_t> = []
        var folders: Set<String> = []
        var isRegistered = false
    }

    private static let state = Mutex(State())

    static func add(process: pid_t) {
        registerOnce()
        state.withLock { _ = $0.processes.insert(process) }
    }

    static func remove(process: pid_t) {
        state.withLock { _ = $0.processes.remove(process) }
    }

    static func add(folder: String) {
        registerOnce()
        state.withLock { _ = $0.folders.insert(folder) }
    }

    static func remove(folder: String) {
        state.withLock { _ = $0.folders.remove(folder) }
    }

    private static func registerOnce() {
        let isFirst = state.withLock { state in
            defer { state.isRegistered = true }
            return !state.isRegistered
        }
        if isFirst {
            atexit { Leftovers.clean() }
        }
    }

    private static func clean() {
        let (processes, folders) = state.withLock { ($0.processes, $0.folders) }
        for process in processes {
            kill(-process, SIGKILL)
        }
        for process in processes {
            // Its own thread may have waited for it already.
            waitpid(process, nil, 0)
        }
        for folder in folders {
            try? FileManager.default.removeItem(atPath: folder)
        }
    }
}
