/// A provider that clients are tested with.
package enum TestedProvider: String, CaseIterable, Sendable {
    case keychaind
    case gnomeKeyring = "gnome-keyring"

    /// For a run that does not limit how many tests run at a time, as `scripts/test` does.
    private static let turnstile = Turnstile(places: 6)
    private static let keychaindForAll = Task { try await RunningProvider(.keychaind) }
    private static let gnomeKeyringForAll = Task { try await RunningProvider(.gnomeKeyring) }

    /// One that runs for all tests, which only touch what they have made themselves.
    package func shared() async throws -> RunningProvider {
        switch self {
        case .keychaind: try await Self.keychaindForAll.value
        case .gnomeKeyring: try await Self.gnomeKeyringForAll.value
        }
    }

    /// One for one test; only so many of these run at a time.
    package func withProvider<Result: Sendable>(
        _ body: (RunningProvider) async throws -> Result
    ) async throws -> Result {
        await Self.turnstile.enter()
        defer { Self.turnstile.leave() }
        return try await body(RunningProvider(self))
    }
}
