import DBus
import Dispatch
import SecretServiceClient
import Synchronization

/// Lets functions that are not `async` wait for what is.
///
/// The work runs on the thread of the event loop alone, so it gets done also when every thread of Swift's pool waits here.
enum BlockingCall {
    /// Runs an operation with the process's client, and blocks until it has ended.
    ///
    /// Each thing that it waits for is bounded in time by the client.
    static func run<Value: Sendable>(
        _ operation: @escaping @Sendable (SecretClient) async throws(SecretServiceError) -> Value
    ) throws(StatusError) -> Value {
        guard !SharedClient.shared.isForked else {
            throw StatusError(errSecNotAvailable, "a child made by fork cannot use its parent's keychain")
        }
        guard EventLoop.startThread() else {
            throw StatusError(errSecNotAvailable, "the process may have no more threads or descriptors")
        }
        guard BusActor.loop.isIsolatingCurrentContext() != true else {
            throw StatusError(errSecInternalError, "called on the thread that would have to answer")
        }
        let outcome = Outcome<Value>()
        let bus = KeychainBus.current
        let work: @BusActor @Sendable () async -> Void = { await outcome.fill(by: operation, on: bus) }
        Task(executorPreference: BusActor.loop, operation: work)
        return try outcome.wait()
    }

    private final class Outcome<Value: Sendable>: Sendable {
        private let result = Mutex<Result<Value, SecretServiceError>?>(nil)
        private let isDone = DispatchSemaphore(value: 0)

        func fill(
            by operation: (SecretClient) async throws(SecretServiceError) -> Value,
            on bus: SecretBus
        ) async {
            let filled: Result<Value, SecretServiceError>
            do throws(SecretServiceError) {
                filled = .success(try await SharedClient.shared.withClient(on: bus, operation))
            } catch {
                filled = .failure(error)
            }
            result.withLock { $0 = filled }
            isDone.signal()
        }

        func wait() throws(StatusError) -> Value {
            isDone.wait()
            switch result.withLock({ $0 }) {
            case .success(let value): return value
            case .failure(let error): throw StatusError(error)
            case nil: throw StatusError(errSecInternalError, "an operation has ended without a result")
            }
        }
    }
}
