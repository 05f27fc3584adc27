import Synchronization

/// Carries a value that cannot be copied from one thread to another, once.
///
/// Closures and continuations can only hold what can be copied; a reference to this can be.
final class Handoff<Value: ~Copyable & Sendable>: Sendable {
    private let value: Mutex<Value?>

    /// Puts a value in.
    init(_ value: consuming Value) {
        self.value = Mutex(value)
    }

    /// Takes the value out; nil the second time.
    func take() -> Value? {
        value.withLock { value in value.take() }
    }
}
