import Dispatch
import Glibc
import KeychaindDBus
import Synchronization

/// The connection of the process to the provider, made on first use and renewed with the bus.
///
/// Apple's modules share it, as contexts and grants belong to one connection. Tests have a client for each bus.
package final class SharedClient: Sendable {
    package static let shared = SharedClient()

    private struct State {
        var clients: [SecretBus: SecretClient] = [:]
        /// The first process to use it.
        var processID: pid_t?
    }

    private let state = Mutex(State())

    private init() {}

    // MARK: Running

    /// Starts an operation with the client of ``KeychainBus/current`` on the event-loop thread.
    ///
    /// Does not need Swift's thread pool, whose threads may all be blocked. `completion` must not block the thread.
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

    /// Blocks the calling thread until the operation ends; the client limits the time of each wait.
    package func wait<Value: Sendable>(
        for operation: @escaping @Sendable (SecretClient) async throws(SecretServiceError) -> Value
    ) throws(SecretServiceError) -> Value {
        guard BusActor.loop.isIsolatingCurrentContext() != true else {
            throw SecretServiceError(.providerFailed, "called on the event-loop thread, which would block forever")
        }
        let outcome = BlockingOutcome<Value>()
        start(operation) { outcome.fill($0) }
        return try outcome.wait().get()
    }

    private func obstacle() -> SecretServiceError? {
        let isForked = state.withLock { state in
            let processID = state.processID ?? getpid()
            state.processID = processID
            return processID != getpid()
        }
        // A forked child has no event-loop thread.
        guard !isForked else {
            return SecretServiceError(.forked, "a forked child cannot use its parent's connection to the keychain")
        }
        guard EventLoop.startThread() else {
            return SecretServiceError(.busUnavailable, "the process has reached its limit of threads or descriptors")
        }
        return nil
    }

    // MARK: The client

    /// The client; a new one if the bus ended since the last operation.
    ///
    /// Does not repeat an operation that the end of the bus interrupted: its change may have been made.
    @BusActor
    private func client(on bus: SecretBus) async throws(SecretServiceError) -> SecretClient {
        if let client = state.withLock({ $0.clients[bus] }) {
            if client.link.isConnected { return client }
            forget(client, on: bus)
        }
        let client = try await SecretClient.connect(SecretClient.Configuration(bus: bus))
        return state.withLock { state in
            // Another thread may have been faster; an unused client closes at its end.
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

final class BlockingOutcome<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, SecretServiceError>

    private let outcome = Mutex<Outcome?>(nil)
    private let isFilled = DispatchSemaphore(value: 0)

    /// Called once.
    func fill(_ outcome: Outcome) {
        self.outcome.withLock { $0 = outcome }
        isFilled.signal()
    }

    /// Called once; blocks.
    func wait() -> Outcome {
        isFilled.wait()
        return outcome.withLock { $0 } ?? .failure(.cancelled)
    }
}

package enum KeychainBus {
    /// A test sets its own.
    @TaskLocal package static var current = SecretBus.session

    @TaskLocal package static var promptTimeout = Duration.seconds(300)
}
