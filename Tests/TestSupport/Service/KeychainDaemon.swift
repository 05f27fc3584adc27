import Foundation
import KeychaindDBus
import Synchronization

/// The built `keychaind` on a private bus, with its own data folder.
package final class KeychainDaemon: Sendable {
    /// The bus name of the daemon.
    package static let busName = "org.freedesktop.secrets"

    /// Options for the start.
    package struct Options: Sendable {
        /// The input for `--unlock`; nil omits the option.
        package var password: String?
        package var keychain: Keychain
        package var arguments: [String] = []
        package var environment: [String: String?] = [:]
        /// The program; nil for the one built with the tests.
        package var program: String?

        package init(password: String? = "password", keychain: Keychain = .prepared) {
            self.password = password
            self.keychain = keychain
        }
    }

    /// What the daemon finds at its first start.
    package enum Keychain: Sendable {
        /// A `login` with the password “password”; nothing if the password is another. Keys take no time to derive.
        case prepared
        /// Nothing: with a password, the daemon creates `login` at the cost of a real one.
        case none
    }

    package let bus: PrivateBus
    /// The daemon's `XDG_DATA_HOME`.
    package let dataHome: String
    /// The clock of every start.
    package let clock: ProgramClock
    private let folder: TemporaryFolder
    private let process: Mutex<ChildProcess>

    /// Starts the daemon and waits for its bus name.
    package init(on bus: PrivateBus, _ options: Options = Options()) async throws {
        self.bus = bus
        folder = try TemporaryFolder()
        dataHome = try folder.makeFolder("data")
        if options.keychain == .prepared, options.password == PreparedKeychain.password {
            try await PreparedKeychain.write(toDataHome: dataHome)
        }
        clock = try await ProgramClock(in: folder)
        process = Mutex(try await KeychainDaemon.launch(on: bus, folder, dataHome, clock, options))
    }

    deinit {
        // Before its folder is removed: a running daemon would create files in it.
        child.end()
    }

    /// The executable: `KEYCHAIND` from the environment, or the one built with the tests.
    package static var executable: String {
        ProcessInfo.processInfo.environment["KEYCHAIND"] ?? product("keychaind")
    }

    /// The path of a program that was built with the tests.
    package static func product(_ name: String) -> String {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// The environment of the daemon and its clients.
    package var environment: [String: String?] {
        KeychainDaemon.environment(bus, folder, dataHome)
    }

    /// The current or last process.
    package var child: ChildProcess {
        process.withLock { $0 }
    }

    /// Ends the daemon in order; its data stay.
    @discardableResult
    package func stop() async throws -> ExitStatus {
        try await child.terminate()
    }

    /// Kills the daemon; its data stay.
    package func kill() async throws {
        try await child.kill()
    }

    /// Starts the ended daemon again on the same data.
    package func start(_ options: Options = Options()) async throws {
        let started = try await KeychainDaemon.launch(on: bus, folder, dataHome, clock, options)
        process.withLock { $0 = started }
    }

    /// Ends the daemon in order and starts it again on the same data.
    package func restart(_ options: Options = Options()) async throws {
        try await stop()
        try await start(options)
    }

    private static func environment(
        _ bus: PrivateBus,
        _ folder: TemporaryFolder,
        _ dataHome: String
    ) -> [String: String?] {
        let own: [String: String?] = [
            "HOME": folder.path, "XDG_DATA_HOME": dataHome, "XDG_RUNTIME_DIR": folder.path,
            // Nothing of the developer's machine: neither session nor fingerprint reader.
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.path)/no-system-bus",
            "XDG_SESSION_ID": nil, "XDG_STATE_HOME": nil, "XDG_CONFIG_HOME": nil, "XDG_CACHE_HOME": nil,
            "NOTIFY_SOCKET": nil,
        ]
        return own.merging(bus.environment) { $1 }
    }

    private static func launch(
        on bus: PrivateBus,
        _ folder: TemporaryFolder,
        _ dataHome: String,
        _ clock: ProgramClock,
        _ options: Options
    ) async throws -> ChildProcess {
        let watch = try await NameWatch(busName, on: bus)
        let arguments = (options.password == nil ? [] : ["--unlock"]) + options.arguments
        let process = try ChildProcess(
            options.program ?? executable,
            arguments,
            environment: environment(bus, folder, dataHome).merging(clock.environment) { $1 }
                .merging(["KEYCHAIND_CHEAP_KEYS": options.keychain == .prepared ? "1" : nil]) { $1 }
                .merging(options.environment) { $1 },
            input: Array((options.password ?? "").utf8)
        )
        do {
            try await watch.waitForOwner(unless: process)
        } catch {
            try await process.kill()
            throw DaemonError(reason: "\(error)", log: try await process.standardError.text())
        }
        return process
    }
}

/// A daemon that did not start, with its log.
package struct DaemonError: Error, CustomStringConvertible {
    package let reason: String
    package let log: String

    package var description: String { "\(reason)\n\(log)" }
}
