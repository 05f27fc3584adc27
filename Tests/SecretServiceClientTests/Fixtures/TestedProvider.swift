import SecretServiceClient
import TestSupport
import Testing

/// A provider that the tests run against.
enum TestedProvider: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case keychaind
    case gnomeKeyring = "gnome-keyring"

    var testDescription: String { rawValue }

    /// A new client of a provider that runs for all tests, which only touch what they have made themselves.
    func makeClient() async throws -> SecretClient {
        try await SecretClient.connect(.init(bus: .address(try await shared().bus.address)))
    }

    /// A provider for one test, and a client of it.
    func withProvider<Result: Sendable>(
        _ body: (RunningProvider, SecretClient) async throws -> Result
    ) async throws -> Result {
        await Self.turnstile.enter()
        defer { Self.turnstile.leave() }
        let provider = try await RunningProvider(self)
        return try await body(provider, try await provider.makeClient())
    }

    private func shared() async throws -> RunningProvider {
        switch self {
        case .keychaind: try await Self.keychaindForAll.value
        case .gnomeKeyring: try await Self.gnomeKeyringForAll.value
        }
    }

    private static let turnstile = Turnstile(places: 6)
    private static let keychaindForAll = Task { try await RunningProvider(.keychaind) }
    private static let gnomeKeyringForAll = Task { try await RunningProvider(.gnomeKeyring) }
}
