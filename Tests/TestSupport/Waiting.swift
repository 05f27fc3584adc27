import Foundation
import Synchronization

/// Polls until a condition is true, for conditions without an event.
///
/// Throws ``WaitError/timedOut(_:)`` when the limit is over.
///
/// - Parameter what: the condition, for the error.
package func eventually(
    _ what: String,
    within limit: Duration = Patience.limit,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw WaitError.timedOut(what) }
        // Lets other threads run between two checks; nothing is assumed to happen in this time.
        try await Task.sleep(for: .milliseconds(5))
    }
}

/// Time limits for waits.
package enum Patience {
    /// The default limit; the variable `KEYCHAIN_PATIENCE` sets another one, in seconds, such as for a sanitizer.
    ///
    /// It only ends a test that fails, so it is longer than an overloaded machine may stall.
    package static let limit = Duration.seconds(
        ProcessInfo.processInfo.environment["KEYCHAIN_PATIENCE"].flatMap(Int.init) ?? 120
    )

    /// Doubling delays, for a test whose operation must have begun when the time is over.
    package static let growing = (0..<12).map { Duration.milliseconds(50 << $0) }
}

/// Why a wait failed.
package enum WaitError: Error, CustomStringConvertible {
    /// It did not happen within the limit.
    case timedOut(String)
    /// It cannot happen any more.
    case ended(String)

    package var description: String {
        switch self {
        case .timedOut(let what): "still waiting for \(what)"
        case .ended(let what): "\(what) cannot happen any more"
        }
    }
}

/// A counting semaphore for tasks.
package final class Turnstile: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    package init(places: Int) {
        state = Mutex(State(free: places))
    }

    /// Waits for a free place; ``leave()`` gives it back.
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
