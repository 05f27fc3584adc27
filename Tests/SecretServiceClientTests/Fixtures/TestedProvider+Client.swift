import Foundation
import KeychaindTestSupport
import SecretServiceClient

extension TestedProvider {
    /// A new client of the provider shared by all tests, which touch only their own objects.
    func makeClient() async throws -> SecretClient {
        try await shared().makeClient()
    }

    /// A provider for one test, with a client.
    func withProvider<Result: Sendable>(
        _ body: (RunningProvider, SecretClient) async throws -> Result
    ) async throws -> Result {
        try await withProvider { provider in try await body(provider, try await provider.makeClient()) }
    }
}

extension RunningProvider {
    /// A client with a changed configuration.
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

extension SecretClient {
    /// Creates an item in the default collection, with attributes unique to this test.
    func makeItem(
        _ secret: [UInt8] = Array("secret".utf8),
        label: String = "label",
        contentType: String = Secret.text
    ) async throws -> (item: SecretItem, attributes: [String: String]) {
        let attributes = ["test": UUID().uuidString]
        let item = try await login().createItem(
            label: label,
            attributes: attributes,
            secret: Secret(secret, contentType: contentType)
        )
        return (item, attributes)
    }

    /// The default collection of every tested provider.
    func login() async throws -> SecretCollection {
        guard let collection = try await collection(alias: "login") else {
            throw MissingCollection()
        }
        return collection
    }

    struct MissingCollection: Error {}
}

/// The error code of an operation; nil on success.
func code<Result: ~Copyable>(
    of operation: () async throws -> Result
) async throws -> SecretServiceError.Code? {
    do {
        _ = try await operation()
        return nil
    } catch let error as SecretServiceError {
        return error.code
    }
}
