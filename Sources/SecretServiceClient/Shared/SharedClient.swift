import DBus
import Glibc
import Synchronization

/// The process's one connection to the provider, made when it is first needed and made anew when the bus was.
///
/// Apple's modules share it, for a context and the grants that it gives are good for one connection only. Where tests use several
/// buses there is one for each.
package final class SharedClient: Sendable {
    /// The only one.
    package static let shared = SharedClient()

    private struct State {
        var clients: [SecretBus: SecretClient] = [:]
        /// The process that has used this first.
        var processID: pid_t?
    }

    private let state = Mutex(State())

    private init() {}

    // MARK: Running

    /// Starts an operation with the client of ``KeychainBus/current``, on the thread of the event loop.
    ///
    /// Nothing of it needs Swift's pool, so it gets done also when every thread of that waits for something.
    ///
    /// - Parameter completion: takes the outcome, on the thread of the event loop, which it must not keep.
    package func start<Value: Sendable>(
        _ operation: @escaping @Sendable (SecretClient) async throws(SecretServiceError) -> Value,
        completion: @escaping @Sendable (Result<Value, SecretServiceError>) -> Void
    ) {
        if let obstacle = obstacle() { return completion(.failure(obstacle)) }
        let bus = KeychainBus.current
        let work: @BusActor @Sendable () async -> Void = {
            let outcome: Result<Value, SecretServiceError>
            do throws(SecretServiceError) {
                outcome = .success(try await operation(try await self.client(on: bus)))
            } catch {
                outcome = .failure(error)
            }
            completion(outcome)
        }
        Task(executorPreference: BusActor.loop, operation: work)
    }

    /// Runs an operation with the client, and blocks the calling thread until it has ended.
    ///
    /// Each thing that it waits for is bounded in time by the client.
    package func wait<Value: Sendable>(
        for operation: @escaping @Sendable (SecretClient) async throws(SecretServiceError) -> Value
    ) throws(SecretServiceError) -> Value {
        guard BusActor.loop.isIsolatingCurrentContext() != true else {
            throw SecretServiceError(.providerFailed, "called on the thread that would have to answer")
        }
        let outcome = BlockingOutcome<Value>()
        start(operation) { outcome.fill($0) }
        return try outcome.wait().get()
    }

    private func obstacle() -> SecretServiceError? {
        guard !isForked else {
            return SecretServiceError(.forked, "a child made by fork cannot use its parent's keychain")
        }
        guard EventLoop.startThread() else {
            return SecretServiceError(.busUnavailable, "the process may have no more threads or descriptors")
        }
        return nil
    }

    /// Whether the process is a child, made by `fork`, of one that uses the keychain: then no thread would answer it.
    private var isForked: Bool {
        state.withLock { state in
            let processID = state.processID ?? getpid()
            state.processID = processID
            return processID != getpid()
        }
    }

    // MARK: The client

    /// The client; a new one where the bus has gone since the last operation.
    ///
    /// An operation during which the bus goes is not repeated: what it was to change may have been changed.
    @BusActor
    private func client(on bus: SecretBus) async throws(SecretServiceError) -> SecretClient {
        if let client = state.withLock({ $0.clients[bus] }) {
            if client.link.isConnected { return client }
            forget(client, on: bus)
        }
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
