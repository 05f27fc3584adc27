import Glibc
import Synchronization

/// A provider on a private bus with an unlocked collection `login`, whose password is `password`.
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

    /// keychaind's data folder.
    package var dataHome: String? { daemon?.dataHome }

    /// Kills the provider.
    package func kill() async throws {
        if let daemon { try await daemon.kill() }
        if let process = process.withLock({ $0 }) { try await process.kill() }
    }

    /// Suspends the provider until it is killed.
    package func pause() {
        (daemon?.child ?? process.withLock { $0 })?.send(SIGSTOP)
    }

    /// Ends the provider in order, so that it writes everything.
    package func stop() async throws {
        if let daemon { try await daemon.stop() }
        if let process = process.withLock({ $0 }) { try await process.terminate() }
    }

    /// Kills the provider and starts it again on the same data.
    package func restart() async throws {
        try await kill()
        try await start()
    }

    /// Restarts keychaind without the password, so that nothing is unlocked.
    package func restartLocked() async throws {
        try await daemon?.restart(KeychainDaemon.Options(password: nil))
    }

    /// Starts the ended provider again on the same data.
    package func start() async throws {
        if let daemon {
            try await daemon.start()
        } else {
            try await startGnomeKeyring()
        }
    }

    /// Starts a prompter with these answers.
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

/// The providers that client tests run with.
package enum TestedProvider: String, CaseIterable, Sendable {
    case keychaind
    case gnomeKeyring = "gnome-keyring"

    /// Limits the providers at a time, also without the limit of `scripts/test`.
    private static let turnstile = Turnstile(places: 6)
    private static let keychaindForAll = Task { try await RunningProvider(.keychaind) }
    private static let gnomeKeyringForAll = Task { try await RunningProvider(.gnomeKeyring) }

    /// A provider shared by all tests, which only touch their own objects.
    package func shared() async throws -> RunningProvider {
        switch self {
        case .keychaind: try await Self.keychaindForAll.value
        case .gnomeKeyring: try await Self.gnomeKeyringForAll.value
        }
    }

    /// Starts a provider for one test, once a place is free.
    package func withProvider<Result: Sendable>(
        _ body: (RunningProvider) async throws -> Result
    ) async throws -> Result {
        await Self.turnstile.enter()
        defer { Self.turnstile.leave() }
        return try await body(RunningProvider(self))
    }
}
