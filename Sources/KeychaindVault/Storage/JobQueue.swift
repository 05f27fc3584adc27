import CKeychaindLinux
import Glibc

/// The job queue of a worker, with its thread.
///
/// `@unchecked Sendable`: `jobs`, `phase` and `whenStopped` are accessed with the mutex held, the state only on the
/// thread.
final class JobQueue<State>: @unchecked Sendable {
    private enum Phase {
        case running
        case stopping
        case stopped
    }

    // SQLite and the ciphers need little, and touched stack pages stay in memory.
    private static var stackSize: Int { 512 * 1024 }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private let name: String
    private let idleMilliseconds: Int
    private let whenIdle: Worker<State>.Job?
    private var jobs: [Worker<State>.Job] = []
    private var phase = Phase.running
    private var whenStopped: [@Sendable () -> Void] = []
    private var state: State?

    init(_ name: String, idleMilliseconds: Int, whenIdle: Worker<State>.Job?) {
        self.name = String(decoding: name.utf8.prefix(15), as: UTF8.self)
        self.idleMilliseconds = idleMilliseconds
        self.whenIdle = whenIdle
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Starts the thread; it keeps the queue alive until it ends.
    func start(with state: sending State) throws(VaultError) {
        self.state = state
        let retained = Unmanaged.passRetained(ThreadBody { self.run() })
        let status = Self.startThread(with: retained.toOpaque()) { context in
            guard let context else { return nil }
            Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
            return nil
        }
        guard status == 0 else {
            retained.release()
            phase = .stopped
            throw VaultError(.storageFailed, reason: "no thread could be started: \(String(cString: strerror(status)))")
        }
    }

    /// Starts a detached thread with all signals blocked; signals are for the main thread.
    private static func startThread(
        with context: UnsafeMutableRawPointer,
        _ body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    ) -> CInt {
        withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { attributes in
            guard let attributes = attributes.baseAddress else { return ENOMEM }
            pthread_attr_init(attributes)
            defer { pthread_attr_destroy(attributes) }
            pthread_attr_setdetachstate(attributes, CInt(PTHREAD_CREATE_DETACHED))
            pthread_attr_setstacksize(attributes, stackSize)
            return withUnsafeTemporaryAllocation(of: sigset_t.self, capacity: 2) { masks in
                guard let all = masks.baseAddress else { return ENOMEM }
                sigfillset(all)
                // The new thread inherits the mask.
                pthread_sigmask(SIG_BLOCK, all, all + 1)
                defer { pthread_sigmask(SIG_SETMASK, all + 1, nil) }
                var thread = pthread_t()
                return pthread_create(&thread, attributes, body, context)
            }
        }
    }

    /// Adds a job; false when the queue is stopping.
    func append(_ job: @escaping Worker<State>.Job) -> Bool {
        pthread_mutex_lock(mutex)
        let isAccepted = phase == .running
        if isAccepted { jobs.append(job) }
        pthread_mutex_unlock(mutex)
        // Signalled after the unlock, because the woken thread needs the mutex.
        if isAccepted { pthread_cond_signal(condition) }
        return isAccepted
    }

    /// Ends the thread after its jobs, then calls `action`.
    func stop(then action: (@Sendable () -> Void)? = nil) {
        pthread_mutex_lock(mutex)
        if phase == .stopped {
            pthread_mutex_unlock(mutex)
            action?()
            return
        }
        phase = .stopping
        if let action { whenStopped.append(action) }
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    private func run() {
        keychaind_set_thread_name(name)
        var hasWorked = false
        while true {
            switch next(hasWorked: hasWorked) {
            case .work(let jobs):
                hasWorked = true
                for job in jobs { withState(job) }
                // An idle thread would keep it.
                keychaind_wipe_stack_and_registers()
            case .idle:
                hasWorked = false
                if let whenIdle { withState(whenIdle) }
            case .stop:
                state = nil
                announceEnd()
                return
            }
        }
    }

    private func withState(_ job: Worker<State>.Job) {
        guard var state else { return }
        job(&state)
        self.state = state
    }

    private enum Next {
        case work([Worker<State>.Job])
        case idle
        case stop
    }

    private func next(hasWorked: Bool) -> Next {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while jobs.isEmpty {
            guard phase == .running else { return .stop }
            if hasWorked, whenIdle != nil {
                var deadline = self.deadline()
                if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT, jobs.isEmpty { return .idle }
            } else {
                pthread_cond_wait(condition, mutex)
            }
        }
        let jobs = self.jobs
        self.jobs = []
        return .work(jobs)
    }

    private func deadline() -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let nanoseconds = time.tv_nsec + (idleMilliseconds % 1000) * 1_000_000
        time.tv_sec += idleMilliseconds / 1000 + nanoseconds / 1_000_000_000
        time.tv_nsec = nanoseconds % 1_000_000_000
        return time
    }

    private func announceEnd() {
        pthread_mutex_lock(mutex)
        phase = .stopped
        let actions = whenStopped
        whenStopped = []
        pthread_mutex_unlock(mutex)
        for action in actions { action() }
    }
}

private final class ThreadBody {
    let run: () -> Void

    init(_ run: @escaping () -> Void) {
        self.run = run
    }
}
