/// Owns a value and runs jobs on it in order, on the threads of a ``WorkerPool``.
///
/// Disk access and key derivation block, so they run here and not on Swift's shared threads. The value is released when
/// the worker is stopped or when the last reference to it is released.
final class Worker<State>: Sendable {
    typealias Job = @Sendable (inout State) -> Void

    private let queue: JobQueue<State>

    /// - Parameters:
    ///   - name: the name of the thread in a debugger, at most 15 bytes.
    ///   - idleMilliseconds: the idle time before `whenIdle` is called, once after each run of jobs.
    init(
        _ name: String,
        _ state: sending State,
        idleMilliseconds: Int = 250,
        pool: WorkerPool = .shared,
        whenIdle: Job? = nil
    ) throws(VaultError) {
        queue = JobQueue(name, idleMilliseconds: idleMilliseconds, whenIdle: whenIdle, pool: pool)
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

    /// Queues a job; a stopped worker drops it and returns false.
    @discardableResult
    func post(_ job: @escaping Job) -> Bool {
        queue.append(job)
    }

    /// Runs the waiting jobs, and waits until the value is released.
    func stop() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            queue.stop { continuation.resume() }
        }
    }
}
