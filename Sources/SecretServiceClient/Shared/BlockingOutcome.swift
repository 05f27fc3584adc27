import Dispatch
import Synchronization

/// A result that a thread waits for, which does nothing else meanwhile.
final class BlockingOutcome<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, SecretServiceError>

    private let outcome = Mutex<Outcome?>(nil)
    private let isFilled = DispatchSemaphore(value: 0)

    /// Gives the result, once.
    func fill(_ outcome: Outcome) {
        self.outcome.withLock { $0 = outcome }
        isFilled.signal()
    }

    /// Blocks until there is a result, once.
    func wait() -> Outcome {
        isFilled.wait()
        return outcome.withLock { $0 } ?? .failure(.cancelled)
    }
}
