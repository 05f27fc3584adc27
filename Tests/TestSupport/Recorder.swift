import Synchronization

/// A log of events that tests can read and wait for.
package final class Recorder<Element: Sendable>: Sendable {
    private struct Waiter {
        let what: String
        let start: Int
        let matches: @Sendable (Element) -> Bool
        let continuation: CheckedContinuation<Element, any Error>
        let timer: Task<Void, Never>
    }

    private struct State {
        var elements: [Element] = []
        var isFinished = false
        var waiters: [UInt64: Waiter] = [:]
        var waiterCount: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The events so far.
    package var all: [Element] {
        state.withLock { $0.elements }
    }

    /// The number of events so far, a mark for later waits.
    package var count: Int {
        state.withLock { $0.elements.count }
    }

    /// Adds an event, and resumes the tasks that wait for it.
    package func record(_ element: Element) {
        let resumed = state.withLock { state in
            state.elements.append(element)
            let count = state.elements.count
            let resumed = state.waiters.filter { $0.value.start < count && $0.value.matches(element) }
            for id in resumed.keys {
                state.waiters[id] = nil
            }
            return Array(resumed.values)
        }
        for waiter in resumed {
            waiter.timer.cancel()
            waiter.continuation.resume(returning: element)
        }
    }

    /// Ends the log, and with it every wait.
    package func finish() {
        let resumed = state.withLock { state in
            state.isFinished = true
            defer { state.waiters.removeAll() }
            return Array(state.waiters.values)
        }
        for waiter in resumed {
            waiter.timer.cancel()
            waiter.continuation.resume(throwing: WaitError.ended(waiter.what))
        }
    }

    /// Waits for the first matching event, which may be in the log already.
    ///
    /// - Parameters:
    ///   - what: the event, for the error.
    ///   - start: the number of first events to skip.
    ///   - limit: the time limit; it only ends a test that fails.
    package func first(
        _ what: String,
        after start: Int = 0,
        within limit: Duration = Patience.limit,
        where matches: @escaping @Sendable (Element) -> Bool = { _ in true }
    ) async throws -> Element {
        let id = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(
                    what: what,
                    start: start,
                    matches: matches,
                    continuation: continuation,
                    timer: Task { await self.expire(id, after: limit) }
                )
                add(waiter, id)
            }
        } onCancel: {
            end(id, throwing: CancellationError())
        }
    }

    private func add(_ waiter: Waiter, _ id: UInt64) {
        let outcome: Result<Element, any Error>? = state.withLock { state in
            let elements = state.elements.dropFirst(waiter.start)
            if let element = elements.first(where: waiter.matches) { return .success(element) }
            if state.isFinished { return .failure(WaitError.ended(waiter.what)) }
            if Task.isCancelled { return .failure(CancellationError()) }
            state.waiters[id] = waiter
            return nil
        }
        guard let outcome else { return }
        waiter.timer.cancel()
        waiter.continuation.resume(with: outcome)
    }

    // Only a time limit: no test sleeps until an event has happened.
    private func expire(_ id: UInt64, after limit: Duration) async {
        guard (try? await Task.sleep(for: limit)) != nil else { return }
        let what = state.withLock { $0.waiters[id]?.what }
        end(id, throwing: WaitError.timedOut(what ?? ""))
    }

    private func end(_ id: UInt64, throwing error: any Error) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.timer.cancel()
        waiter?.continuation.resume(throwing: error)
    }
}
