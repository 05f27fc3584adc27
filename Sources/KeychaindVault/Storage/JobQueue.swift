import Glibc

/// The job queue of a worker; the threads of a ``WorkerPool`` run it, one at a time.
///
/// `@unchecked Sendable`: `jobs`, `phase` and `whenStopped` are accessed with the mutex held, the state only by the
/// thread that runs the queue.
final class JobQueue<State>: WorkerPool.Queue, @unchecked Sendable {
    private enum Phase {
        /// Nothing is to be done.
        case idle
        /// The pool has the queue.
        case scheduled
        case stopped
    }

    let name: String

    private let pool: WorkerPool
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let idleMilliseconds: Int
    private let whenIdle: Worker<State>.Job?
    private var jobs: [Worker<State>.Job] = []
    private var phase = Phase.idle
    private var isStopping = false
    private var whenStopped: [@Sendable () -> Void] = []
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
        let isAccepted = !isStopping
        if isAccepted { jobs.append(job) }
        let mustSchedule = isAccepted && schedule()
        pthread_mutex_unlock(mutex)
        if mustSchedule { pool.add(self) }
        return isAccepted
    }

    /// Releases the state after the waiting jobs, then calls `action`.
    func stop(then action: (@Sendable () -> Void)? = nil) {
        pthread_mutex_lock(mutex)
        if case .stopped = phase {
            pthread_mutex_unlock(mutex)
            action?()
            return
        }
        isStopping = true
        if let action { whenStopped.append(action) }
        let mustSchedule = schedule()
        pthread_mutex_unlock(mutex)
        if mustSchedule { pool.add(self) }
    }

    /// Whether the queue must be given to the pool, which the caller does without the mutex.
    private func schedule() -> Bool {
        guard case .idle = phase else { return false }
        phase = .scheduled
        return true
    }

    // MARK: On a thread of the pool

    func run() {
        for job in takeJobs() { withState(job) }
        pthread_mutex_lock(mutex)
        guard jobs.isEmpty else {
            pthread_mutex_unlock(mutex)
            // Behind the others.
            return pool.add(self)
        }
        let isLast = isStopping
        if !isLast { phase = .idle }
        pthread_mutex_unlock(mutex)
        guard !isLast else { return end() }
        if whenIdle != nil { pool.rest(self, afterMilliseconds: idleMilliseconds) }
    }

    func rest() {
        guard let whenIdle else { return }
        pthread_mutex_lock(mutex)
        let mayRest = jobs.isEmpty && schedule()
        pthread_mutex_unlock(mutex)
        guard mayRest else { return }
        withState(whenIdle)
        pthread_mutex_lock(mutex)
        guard !jobs.isEmpty || isStopping else {
            phase = .idle
            pthread_mutex_unlock(mutex)
            return
        }
        pthread_mutex_unlock(mutex)
        pool.add(self)
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
        state = nil
        pool.cancelRest(of: self)
        pthread_mutex_lock(mutex)
        phase = .stopped
        let actions = whenStopped
        whenStopped = []
        pthread_mutex_unlock(mutex)
        for action in actions { action() }
    }
}
