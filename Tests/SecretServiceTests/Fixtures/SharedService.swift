import DBus
import TestSupport

/// One running service for all tests that neither lock, nor create or delete collections, nor look at whole lists.
///
/// Each takes a client of its own, and attributes of its own.
enum SharedService {
    private static let running = Task { try await RunningService() }

    static func get() async throws -> RunningService {
        try await running.value
    }

    /// A new client of the service, and a plain session of it.
    static func client() async throws -> (SecretServiceProxy, ObjectPath) {
        let client = try await get().makeClient()
        return (client, try await client.openPlainSession())
    }
}
