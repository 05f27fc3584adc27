import Glibc

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

/// The job queue of a worker; the threads of a ``WorkerPool`` run it, one at a time.
///
/// `@unchecked Sendable`: `jobs` and `phase` are accessed with the mutex held, the state only by the thread that runs
/// the queue.
final class JobQueue<State>: WorkerPool.Queue, @unchecked Sendable {
    private enum Phase {
        /// Nothing is to be done.
        case idle
        /// The pool has the queue.
        case scheduled
        /// The pool has it for the last time, and calls the actions then.
        case stopping([@Sendable () -> Void])
        case stopped
    }

    let name: String

    private let pool: WorkerPool
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let idleMilliseconds: Int
    private let whenIdle: Worker<State>.Job?
    private var jobs: [Worker<State>.Job] = []
    private var phase = Phase.idle
    private var state: State?

    init(_ name: String, idleMilliseconds: Int, whenIdle: Worker<State>.Job?, pool: WorkerPool) {
        self.name = String(decoding: name.utf8.prefix(15), as: UTF8.self)
        self.pool = pool
        self.idleMilliseconds = idleMilliseconds
        self.whenIdle = whenIdle
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Accepts jobs from now on.
    func start(with state: sending State) throws(VaultError) {
        self.state = state
        do throws(VaultError) {
            try pool.start()
        } catch {
            self.state = nil
            phase = .stopped
            throw error
        }
    }

    /// Adds a job; false when the queue is stopping.
    func append(_ job: @escaping Worker<State>.Job) -> Bool {
        pthread_mutex_lock(mutex)
        let mustSchedule: Bool
        switch phase {
        case .idle: mustSchedule = true
        case .scheduled: mustSchedule = false
        case .stopping, .stopped:
            pthread_mutex_unlock(mutex)
            return false
        }
        jobs.append(job)
        phase = .scheduled
        pthread_mutex_unlock(mutex)
        // The pool has a mutex of its own.
        if mustSchedule { pool.add(self) }
        return true
    }

    /// Releases the state after the waiting jobs, then calls `action`.
    func stop(then action: (@Sendable () -> Void)? = nil) {
        let actions = action.map { [$0] } ?? []
        pthread_mutex_lock(mutex)
        let old = phase
        switch old {
        case .idle, .scheduled: phase = .stopping(actions)
        case .stopping(let others): phase = .stopping(others + actions)
        case .stopped: break
        }
        pthread_mutex_unlock(mutex)
        switch old {
        case .idle: pool.add(self)
        case .scheduled, .stopping: break
        case .stopped: action?()
        }
    }

    // MARK: On a thread of the pool

    func run() {
        for job in takeJobs() { withState(job) }
        switch pause() {
        case .scheduled: pool.add(self)
        case .stopping, .stopped: end()
        case .idle: if whenIdle != nil { pool.rest(self, afterMilliseconds: idleMilliseconds) }
        }
    }

    func rest() {
        guard let whenIdle, beginRest() else { return }
        withState(whenIdle)
        switch pause() {
        case .scheduled, .stopping: pool.add(self)
        case .idle, .stopped: break
        }
    }

    /// Whether nothing has come since the last jobs.
    private func beginRest() -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard case .idle = phase else { return false }
        phase = .scheduled
        return true
    }

    /// Leaves the thread to other queues if no job waits; returns the new phase.
    private func pause() -> Phase {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if case .scheduled = phase, jobs.isEmpty { phase = .idle }
        return phase
    }

    private func takeJobs() -> [Worker<State>.Job] {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let jobs = self.jobs
        self.jobs = []
        return jobs
    }

    private func withState(_ job: Worker<State>.Job) {
        guard var state else { return }
        job(&state)
        self.state = state
    }

    /// Releases the state, and then calls those who wait for that.
    private func end() {
        for job in takeJobs() { withState(job) }
        state = nil
        pool.cancelRest(of: self)
        pthread_mutex_lock(mutex)
        let old = phase
        phase = .stopped
        pthread_mutex_unlock(mutex)
        guard case .stopping(let actions) = old else { return }
        for action in actions { action() }
    }
}
