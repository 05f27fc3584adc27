import Foundation
import KeychaindTestSupport

/// The program started by hand with its own home, for tests of its start and end.
final class Launch: Sendable {
    let folder: TemporaryFolder
    /// Only `HOME`, so that the data folder is the default one.
    let environment: [String: String?]

    init(on bus: PrivateBus? = nil) throws {
        folder = try TemporaryFolder()
        let own: [String: String?] = [
            "HOME": folder.path, "XDG_DATA_HOME": nil, "XDG_RUNTIME_DIR": folder.path, "NOTIFY_SOCKET": nil,
            "JOURNAL_STREAM": nil, "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder.path("no-bus"))",
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.path("no-system-bus"))",
        ]
        environment = own.merging(bus?.environment ?? [:]) { $1 }
    }

    /// The default data folder.
    var dataFolder: String { folder.path(".local/share/keychaind") }

    /// Runs the program to its end.
    func run(
        _ arguments: String...,
        environment changes: [String: String?] = [:],
        input: [UInt8] = []
    ) async throws -> CommandResult {
        try await Command.run(
            KeychainDaemon.executable,
            arguments,
            environment: environment.merging(changes) { $1 },
            input: input
        )
    }

    /// Starts the program and waits for its bus name.
    func start(
        on bus: PrivateBus,
        _ arguments: String...,
        environment changes: [String: String?] = [:],
        input: [UInt8] = []
    ) async throws -> ChildProcess {
        let watch = try await NameWatch(KeychainDaemon.busName, on: bus)
        let process = try ChildProcess(
            KeychainDaemon.executable,
            arguments,
            environment: environment.merging(changes) { $1 },
            input: input,
            keeping: folder
        )
        try await watch.waitForOwner(unless: process)
        return process
    }
}

/// Permission bits of files.
enum FileMode {
    static func of(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
    }

    /// Returns those of all files below a folder, by relative path.
    static func below(_ folder: String) -> [String: Int] {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return names.reduce(into: [:]) { $0[$1] = of("\(folder)/\($1)") }
    }
}
