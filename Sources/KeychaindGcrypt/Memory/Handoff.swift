import Synchronization

/// Moves a noncopyable value, once, through a closure, a continuation or a dictionary, which take only copyable ones.
package final class Handoff<Value: ~Copyable & Sendable>: Sendable {
    private let value: Mutex<Value?>

    package init(_ value: consuming Value) {
        self.value = Mutex(value)
    }

    /// Passes the value to the closure if it was not taken.
    package func read<Result>(_ body: (borrowing Value) -> Result) -> Result? {
        value.withLock { value in
            guard let present = value.take() else { return nil }
            let result = body(present)
            value = consume present
            return result
        }
    }

    /// Takes the value out; nil after the first time.
    package func take() -> Value? {
        value.withLock { value in value.take() }
    }
}
