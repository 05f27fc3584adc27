import Synchronization

/// Changes that have come and were not taken yet, up to a limit.
final class ChangeBuffer: Sendable {
    static let limit = 1024

    private struct State {
        var changes: [SecretChange] = []
        var waiter: CheckedContinuation<SecretChange?, Never>?
        var isFinished = false
    }

    private let state = Mutex(State())

    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Adds a change, or gives up what waits when that is too much.
    func add(_ change: SecretChange) {
        let waiter: CheckedContinuation<SecretChange?, Never>? = state.withLock { state in
            guard !state.isFinished else { return nil }
            if let waiter = state.waiter {
                state.waiter = nil
                return waiter
            }
            if state.changes.count >= ChangeBuffer.limit {
                state.changes = [.missed]
            }
            state.changes.append(change)
            return nil
        }
        waiter?.resume(returning: change)
    }

    /// Lets nothing more in; what is there can still be taken.
    func finish() {
        let waiter = state.withLock { state in
            state.isFinished = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: nil)
    }

    /// Takes the oldest change, and waits for one if there is none; nil at the end.
    func next() async -> SecretChange? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let next: SecretChange?? = state.withLock { state in
                    if !state.changes.isEmpty { return .some(state.changes.removeFirst()) }
                    // A sequence is for one task; a second one that waits is told that there is nothing.
                    guard !state.isFinished, !Task.isCancelled, state.waiter == nil else { return .some(nil) }
                    state.waiter = continuation
                    return nil
                }
                if let next { continuation.resume(returning: next) }
            }
        } onCancel: {
            finish()
        }
    }
}
