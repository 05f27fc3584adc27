import SecretServiceClient
import TestSupport

extension TestedProvider {
    /// A new client of a provider that runs for all tests, which only touch what they have made themselves.
    func makeClient() async throws -> SecretClient {
        try await shared().makeClient()
    }

    /// A provider for one test, and a client of it.
    func withProvider<Result: Sendable>(
        _ body: (RunningProvider, SecretClient) async throws -> Result
    ) async throws -> Result {
        try await withProvider { provider in try await body(provider, try await provider.makeClient()) }
    }
}

extension RunningProvider {
    /// A client with the configuration that the closure has changed.
    func makeClient(
        _ configure: (inout SecretClient.Configuration) -> Void = { _ in }
    ) async throws(SecretServiceError) -> SecretClient {
        var configuration = SecretClient.Configuration(bus: .address(bus.address))
        configuration.connectTimeout = Patience.limit
        configuration.callTimeout = Patience.limit
        configure(&configuration)
        return try await SecretClient.connect(configuration)
    }
}
