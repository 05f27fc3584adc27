/// A value that is delivered once, to everyone who waits for it.
///
/// A waiting task keeps the promise alive, so an abandoned promise leaves its waiters suspended forever. Its owner
/// fulfills it on every path, including close.
@BusActor
package final class Promise<Value: Sendable> {
    private enum State {
        case pending([@BusActor (Value) -> Void])
        case fulfilled(Value)
    }

    private var state = State.pending([])

    package nonisolated init() {}

    /// Delivers the value and returns true; ignores later values and returns false.
    @discardableResult
    package func fulfill(_ value: Value) -> Bool {
        guard case .pending(let handlers) = state else { return false }
        state = .fulfilled(value)
        for handler in handlers { handler(value) }
        return true
    }

    package var isFulfilled: Bool {
        if case .fulfilled = state { true } else { false }
    }

    /// Calls the handler with the value: now, if it was delivered, or else from ``fulfill(_:)``.
    package func onFulfillment(_ handler: @escaping @BusActor (Value) -> Void) {
        switch state {
        case .fulfilled(let value):
            handler(value)
        case .pending(var handlers):
            // Without this, the append would copy the array.
            state = .pending([])
            handlers.append(handler)
            state = .pending(handlers)
        }
    }

    package func value() async -> Value {
        if case .fulfilled(let value) = state { return value }
        return await withCheckedContinuation { continuation in
            onFulfillment { continuation.resume(returning: $0) }
        }
    }

    /// Returns nil if the value is not delivered in time.
    package func value(within time: Duration) async -> Value? {
        if case .fulfilled(let value) = state { return value }
        let first = Promise<Value?>()
        let timer = BusActor.loop.schedule(after: time) { first.fulfill(nil) }
        onFulfillment { value in
            BusActor.loop.cancel(timer)
            first.fulfill(value)
        }
        return await first.value()
    }
}

extension Promise where Value == Void {
    /// Returns whether this is the first time.
    @discardableResult
    package func fulfill() -> Bool { fulfill(()) }

    package func wait() async { await value() }

    /// Returns false if the event does not occur in time.
    package func wait(within time: Duration) async -> Bool { await value(within: time) != nil }
}
