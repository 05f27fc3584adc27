import Synchronization

/// A result that comes once, from any thread, and that one task waits for.
final class Settlement<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, SecretServiceError>

    private enum State {
        case open
        case awaited(CheckedContinuation<Outcome, Never>)
        case settled(Outcome)
        case taken
    }

    private let state = Mutex(State.open)

    /// Settles, unless it is settled already.
    ///
    /// - Returns: whether this was the outcome that counts.
    @discardableResult
    func settle(_ outcome: Outcome) -> Bool {
        let (isFirst, waiter): (Bool, CheckedContinuation<Outcome, Never>?) = state.withLock { state in
            switch state {
            case .open:
                state = .settled(outcome)
                return (true, nil)
            case .awaited(let continuation):
                state = .taken
                return (true, continuation)
            case .settled, .taken:
                return (false, nil)
            }
        }
        waiter?.resume(returning: outcome)
        return isFirst
    }

    /// Waits for the outcome, once only.
    ///
    /// Cancelling the task settles it as cancelled.
    func value() async throws(SecretServiceError) -> Value {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let settled: Outcome? = state.withLock { state in
                    guard case .settled(let outcome) = state else {
                        state = .awaited(continuation)
                        return nil
                    }
                    state = .taken
                    return outcome
                }
                if let settled { continuation.resume(returning: settled) }
            }
        } onCancel: {
            settle(.failure(.cancelled))
        }
        return try outcome.get()
    }
}
