import CKeychaindLinux
import Glibc
import Synchronization

package enum BlockingThread {
    /// Runs a closure on a new thread and waits for its result; if none can be created, blocks the calling thread with
    /// it.
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

    /// Does not wait; returns false, without running the closure, if no thread can be created.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body))
        let status = pthread_create(
            &thread,
            nil,
            { context in
                Unmanaged<Work>.fromOpaque(context!).takeRetainedValue().body()
                // The C library keeps the stacks of ended threads for the next.
                keychaind_wipe_stack_and_registers()
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

    /// Passes a noncopyable value between threads, which a continuation cannot.
    private final class Box<Value: ~Copyable & Sendable>: Sendable {
        private let value = Mutex<Value?>(nil)

        func put(_ value: consuming Value) {
            var value: Value? = value
            self.value.withLock { $0 = value.take() }
        }

        func take() -> Value {
            guard let value = value.withLock({ $0.take() }) else { preconditionFailure("take() before put(_:)") }
            return value
        }
    }
}
