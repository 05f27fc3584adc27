import Glibc
import Synchronization

/// A thread for one call that blocks, so that the event loop does not.
package enum BlockingThread {
    /// Runs a closure on a thread of its own and waits for its result.
    ///
    /// Where the process may have no more threads, it is run by the caller, who is then blocked.
    package static func run<Result: ~Copyable & Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        let box = Box<Result>()
        await withCheckedContinuation { continuation in
            let work: @Sendable () -> Void = {
                box.put(body())
                continuation.resume()
            }
            if !start(work) { work() }
        }
        return box.take()
    }

    /// Runs a closure on a thread of its own, for whoever does not wait for its end.
    ///
    /// - Returns: false if the process may have no more threads; then the closure is not run.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body))
        let status = pthread_create(
            &thread,
            nil,
            { context in
                Unmanaged<Work>.fromOpaque(context!).takeRetainedValue().body()
                return nil
            },
            work.toOpaque()
        )
        guard status == 0 else {
            work.release()
            return false
        }
        pthread_detach(thread)
        return true
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
