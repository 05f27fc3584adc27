import Foundation
import Glibc
import SecretServiceClient
import Synchronization

/// The process's one connection to the provider, made when it is first needed and made anew when the bus was.
///
/// Where tests use several buses there is one for each.
final class SharedClient: Sendable {
    static let shared = SharedClient()

    private struct State {
        var clients: [SecretBus: SecretClient] = [:]
        /// The process that has used this first.
        var processID: pid_t?
    }

    private let state = Mutex(State())

    /// Whether the process is a child, made by `fork`, of one that uses the keychain: then no thread would answer it.
    var isForked: Bool {
        state.withLock { state in
            let processID = state.processID ?? getpid()
            state.processID = processID
            return processID != getpid()
        }
    }

    /// Runs an operation with the client; where the bus has gone since the last one, with a new client.
    func withClient<Value: Sendable>(
        on bus: SecretBus,
        _ operation: (SecretClient) async throws(SecretServiceError) -> Value
    ) async throws(SecretServiceError) -> Value {
        let client = try await connected(to: bus)
        do throws(SecretServiceError) {
            return try await operation(client)
        } catch  where error.code == .disconnected {
            forget(client, on: bus)
            return try await operation(try await connected(to: bus))
        }
    }

    private func connected(to bus: SecretBus) async throws(SecretServiceError) -> SecretClient {
        if let client = state.withLock({ $0.clients[bus] }) { return client }
        let client = try await SecretClient.connect(SecretClient.Configuration(bus: bus))
        return state.withLock { state in
            // Another thread may have been faster; what is not taken leaves the bus by itself.
            let taken = state.clients[bus] ?? client
            state.clients[bus] = taken
            return taken
        }
    }

    private func forget(_ client: SecretClient, on bus: SecretBus) {
        state.withLock { state in
            if state.clients[bus] === client { state.clients[bus] = nil }
        }
    }
}
