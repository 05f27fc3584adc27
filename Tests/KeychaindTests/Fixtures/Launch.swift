import Foundation
import TestSupport

/// The program started by hand, with a home of its own, for tests of how it begins and ends.
final class Launch: Sendable {
    let folder: TemporaryFolder
    /// `HOME` alone, so that the data folder is where it is for most people.
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

    /// The data folder, if nothing else is said.
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

    /// Starts the program, and waits until it has taken its name.
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
            input: input
        )
        try await watch.waitForOwner(unless: process)
        return process
    }
}
