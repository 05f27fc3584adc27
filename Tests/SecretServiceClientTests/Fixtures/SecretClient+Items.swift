import Foundation
import SecretServiceClient

extension SecretClient {
    /// Makes an item in the default collection, with attributes that no other test has.
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

    /// The collection that every tested provider has.
    func login() async throws -> SecretCollection {
        guard let collection = try await collection(alias: "login") else {
            throw MissingCollection()
        }
        return collection
    }

    struct MissingCollection: Error {}
}

/// The code that an operation fails with; nil if it does not fail.
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
