import Glibc
import Synchronization

/// A provider on a bus of its own, whose collection `login` has the password `password` and is unlocked.
package final class RunningProvider: Sendable {
    package let bus: PrivateBus
    private let kind: TestedProvider
    private let folder: TemporaryFolder
    private let daemon: KeychainDaemon?
    private let process = Mutex<ChildProcess?>(nil)

    package init(_ kind: TestedProvider) async throws {
        self.kind = kind
        bus = try await PrivateBus()
        folder = try TemporaryFolder()
        switch kind {
        case .keychaind:
            daemon = try await KeychainDaemon(on: bus)
        case .gnomeKeyring:
            daemon = nil
            try await startGnomeKeyring()
        }
    }

    deinit {
        process.withLock { $0 = nil }
    }

    /// The folder in which keychaind keeps its data.
    package var dataHome: String? { daemon?.dataHome }

    /// Ends the provider at once.
    package func kill() async throws {
        if let daemon { try await daemon.kill() }
        if let process = process.withLock({ $0 }) { try await process.kill() }
    }

    /// Stops the provider from doing anything, until it is killed.
    package func pause() {
        (daemon?.child ?? process.withLock { $0 })?.send(SIGSTOP)
    }

    /// Ends the provider in order, after which all that it has put off is written.
    package func stop() async throws {
        if let daemon { try await daemon.stop() }
        if let process = process.withLock({ $0 }) { try await process.terminate() }
    }

    /// Ends the provider at once, and starts it again on what it has stored.
    package func restart() async throws {
        try await kill()
        try await start()
    }

    /// Starts the provider again on what it has stored, after it has ended.
    package func start() async throws {
        if let daemon {
            try await daemon.start()
        } else {
            try await startGnomeKeyring()
        }
    }

    /// Somebody who answers the provider's prompts so.
    package func answerPrompts(_ responses: PromptResponse...) async throws -> FakePrompter {
        try await FakePrompter(on: bus, responses)
    }

    private func startGnomeKeyring() async throws {
        let watch = try await NameWatch(KeychainDaemon.busName, on: bus)
        let started = try ChildProcess(
            "gnome-keyring-daemon",
            ["--foreground", "--unlock", "--components=secrets", "--control-directory=\(folder.path("control"))"],
            environment: ["HOME": folder.path, "XDG_DATA_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
                .merging(bus.environment) { $1 },
            input: Array("password".utf8)
        )
        process.withLock { $0 = started }
        try await watch.waitForOwner(unless: started)
    }
}
