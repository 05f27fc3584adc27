import Glibc
import Synchronization

/// A thread that owns a value and runs jobs on it in order.
///
/// Disk access and key derivation block, so they run here and not on Swift's shared threads. The thread ends when it is
/// stopped or when the last reference to the worker is released.
final class Worker<State>: Sendable {
    typealias Job = @Sendable (inout State) -> Void

    private let queue: JobQueue<State>

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: the thread's name in a debugger, at most 15 bytes.
    ///   - idleMilliseconds: the idle time before `whenIdle` is called, once after each run of jobs.
    init(
        _ name: String,
        _ state: sending State,
        idleMilliseconds: Int = 250,
        whenIdle: Job? = nil
    ) throws(VaultError) {
        queue = JobQueue(name, idleMilliseconds: idleMilliseconds, whenIdle: whenIdle)
        try queue.start(with: state)
    }

    deinit {
        queue.stop()
    }

    /// Runs a job after the waiting ones; the caller does not wait for `afterwards`.
    func perform<Result: Sendable>(
        _ body: @escaping @Sendable (inout State) throws(VaultError) -> Result,
        afterwards: Job? = nil
    ) async throws(VaultError) -> Result {
        let result: Swift.Result<Result, VaultError> = await withCheckedContinuation { continuation in
            let accepted = queue.append { state in
                do throws(VaultError) {
                    continuation.resume(returning: .success(try body(&state)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
                afterwards?(&state)
            }
            if !accepted {
                continuation.resume(returning: .failure(VaultError.vaultClosed))
            }
        }
        return try result.get()
    }

    /// Queues a job; a stopped worker drops it.
    func post(_ job: @escaping Job) {
        _ = queue.append(job)
    }

    /// Ends the thread after the waiting jobs, and waits until it has released its value.
    func stop() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            queue.stop { continuation.resume() }
        }
    }
}

/// Moves a noncopyable value between threads, once: closures and continuations can capture only copyable values.
package final class Handoff<Value: ~Copyable & Sendable>: Sendable {
    private let value: Mutex<Value?>

    package init(_ value: consuming Value) {
        self.value = Mutex(value)
    }

    package func take() -> Value? {
        value.withLock { value in value.take() }
    }
}
