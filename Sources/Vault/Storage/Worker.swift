import Glibc

/// A thread that owns a value and does one job after the other on it.
///
/// Disks and key derivations block, so they get threads of their own rather than one of the few that Swift's tasks share. The
/// thread ends when it is stopped or when the last reference to the worker goes away.
final class Worker<State>: Sendable {
    /// A piece of work on the value.
    typealias Job = @Sendable (inout State) -> Void

    private let queue: JobQueue<State>

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: what the thread is called in a debugger; the system keeps 15 bytes of it.
    ///   - state: what the thread owns; it is released on the thread.
    ///   - idleMilliseconds: how long the thread waits without a job before it calls `whenIdle`, once after each run of jobs.
    ///   - whenIdle: work that should stay out of the way of jobs.
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

    /// Does a job after those that are waiting, and gives its result.
    ///
    /// - Parameter afterwards: more to do when the result has been given, out of the way of who waits for it.
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
                continuation.resume(returning: .failure(VaultError(.storageFailed, reason: "the vault is closed")))
            }
        }
        return try result.get()
    }

    /// Leaves a job to be done after those that are waiting; it is dropped when the worker has been stopped.
    func post(_ job: @escaping Job) {
        _ = queue.append(job)
    }

    /// Ends the thread after the jobs that are waiting, and waits until it has released what it owns.
    func stop() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            queue.stop { continuation.resume() }
        }
    }
}
