import Synchronization

/// Lets so many in at a time; who comes later waits for one to leave.
package final class Turnstile: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    package init(places: Int) {
        state = Mutex(State(free: places))
    }

    /// Takes a place, which has to be given back with ``leave()``.
    package func enter() async {
        await withCheckedContinuation { continuation in
            let mayEnter = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if mayEnter {
                continuation.resume()
            }
        }
    }

    package func leave() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
