import Synchronization

/// Moves a noncopyable value between threads, once: closures and continuations can capture only copyable values.
final class Handoff<Value: ~Copyable & Sendable>: Sendable {
    private let value: Mutex<Value?>

    /// Stores a value.
    init(_ value: consuming Value) {
        self.value = Mutex(value)
    }

    /// Takes the value; nil the second time.
    func take() -> Value? {
        value.withLock { value in value.take() }
    }
}
