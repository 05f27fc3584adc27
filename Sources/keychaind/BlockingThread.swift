import Glibc
import Synchronization

/// A thread for one call that blocks, so that the event loop does not.
enum BlockingThread {
    /// Runs a closure on a thread of its own and waits for its result.
    static func run<Result: ~Copyable & Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        let box = Box<Result>()
        await withCheckedContinuation { continuation in
            start {
                box.put(body())
                continuation.resume()
            }
        }
        return box.take()
    }

    private static func start(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            nil,
            { context in
                Unmanaged<Work>.fromOpaque(context!).takeRetainedValue().body()
                return nil
            },
            Unmanaged.passRetained(Work(body)).toOpaque()
        )
        precondition(status == 0, "the process may have no more threads")
        pthread_detach(thread)
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    /// Carries a value that cannot be copied from one thread to the other; a continuation cannot.
    private final class Box<Value: ~Copyable & Sendable>: Sendable {
        private let value = Mutex<Value?>(nil)

        func put(_ value: consuming Value) {
            var value: Value? = value
            self.value.withLock { $0 = value.take() }
        }

        func take() -> Value {
            guard let value = value.withLock({ $0.take() }) else { preconditionFailure("nothing was put in") }
            return value
        }
    }
}
