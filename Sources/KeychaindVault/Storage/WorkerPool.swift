import CKeychaindLinux
import Glibc

/// A few threads on which the queues of all workers run in turn.
///
/// Threads are bounded by the work at a time, not by the number of keychains. The first thread stays; others start when
/// all are busy, and end when there is nothing to do for a while.
///
/// `@unchecked Sendable`: the mutex guards all variables.
final class WorkerPool: @unchecked Sendable {
    /// A queue of jobs, of which one thread at a time runs some.
    protocol Queue: AnyObject, Sendable {
        /// The thread's name in a debugger.
        var name: String { get }
        /// Runs the jobs that wait now.
        func run()
        /// Runs after a pause without jobs.
        func rest()
    }

    static let shared = WorkerPool(threads: 8)

    /// Reads files of other folders and writes backups; no keychain waits for their disks, which may never answer.
    static let foreignFiles = WorkerPool(threads: Vault.foreignFileThreads)

    private enum Task {
        case run(any Queue)
        case rest(any Queue)
        /// To overwrite what jobs have left on the stack, such as pieces of a secret.
        case wipe
        case end
    }

    private struct Rest {
        let queue: any Queue
        let deadline: Int64
    }

    // The ciphers need little, and touched stack pages stay in memory.
    private static let stackSize = 512 * 1024
    /// As in the event loop: jobs that follow one another need no wiping between them.
    private static let nanosecondsUntilWipe: Int64 = 100_000_000
    private static let nanosecondsUntilEnd: Int64 = 2_000_000_000

    private let limit: Int
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var ready: [any Queue] = []
    /// Soonest first.
    private var rests: [Rest] = []
    private var threads = 0
    private var idleThreads = 0

    init(threads limit: Int) {
        self.limit = limit
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    /// Starts the first thread, which stays; throws if none can be started.
    func start() throws(VaultError) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard threads == 0 else { return }
        let status = startThread()
        guard status == 0 else {
            throw VaultError(.storageFailed, reason: "no thread could be started: \(String(cString: strerror(status)))")
        }
    }

    /// Lets a thread run a queue, after those that were added before.
    func add(_ queue: any Queue) {
        pthread_mutex_lock(mutex)
        ready.append(queue)
        let isBusy = idleThreads < ready.count && threads < limit
        // Without another thread, the present ones come to it.
        if isBusy { _ = startThread() }
        pthread_mutex_unlock(mutex)
        // Signalled after the unlock, because the woken thread needs the mutex.
        pthread_cond_signal(condition)
    }

    /// Lets a queue rest after a time; replaces an earlier request.
    func rest(_ queue: any Queue, afterMilliseconds delay: Int) {
        pthread_mutex_lock(mutex)
        rests.removeAll { $0.queue === queue }
        let rest = Rest(queue: queue, deadline: Self.now + Int64(delay) * 1_000_000)
        rests.insert(rest, at: rests.firstIndex { $0.deadline > rest.deadline } ?? rests.endIndex)
        pthread_mutex_unlock(mutex)
    }

    func cancelRest(of queue: any Queue) {
        pthread_mutex_lock(mutex)
        rests.removeAll { $0.queue === queue }
        pthread_mutex_unlock(mutex)
    }

    // MARK: Threads

    private func run() {
        var isWiped = true
        while true {
            switch next(isWiped) {
            case .run(let queue):
                keychaind_set_thread_name(queue.name)
                queue.run()
                isWiped = false
            case .rest(let queue):
                keychaind_set_thread_name(queue.name)
                queue.rest()
                isWiped = false
            case .wipe:
                keychaind_wipe_stack_and_registers()
                isWiped = true
            case .end: return
            }
        }
    }

    private func next(_ isWiped: Bool) -> Task {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let start = Self.now
        let wipe = isWiped ? .max : start + Self.nanosecondsUntilWipe
        let end = start + Self.nanosecondsUntilEnd
        idleThreads += 1
        defer { idleThreads -= 1 }
        while true {
            if !ready.isEmpty { return .run(ready.removeFirst()) }
            let now = Self.now
            if let rest = rests.first, rest.deadline <= now {
                rests.removeFirst()
                return .rest(rest.queue)
            }
            if now >= wipe { return .wipe }
            if threads > 1, now >= end {
                threads -= 1
                // Another thread may wait for longer than until the next rest.
                pthread_cond_signal(condition)
                return .end
            }
            wait(until: min(rests.first?.deadline ?? .max, wipe, threads > 1 ? end : .max))
        }
    }

    private func wait(until instant: Int64) {
        guard instant < .max else {
            pthread_cond_wait(condition, mutex)
            return
        }
        var deadline = timespec(tv_sec: Int(instant / 1_000_000_000), tv_nsec: Int(instant % 1_000_000_000))
        pthread_cond_timedwait(condition, mutex, &deadline)
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Starts a detached thread with all signals blocked; signals are for the main thread.
    private func startThread() -> CInt {
        let retained = Unmanaged.passRetained(self)
        let status = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { attributes in
            guard let attributes = attributes.baseAddress else { return ENOMEM }
            pthread_attr_init(attributes)
            defer { pthread_attr_destroy(attributes) }
            pthread_attr_setdetachstate(attributes, CInt(PTHREAD_CREATE_DETACHED))
            pthread_attr_setstacksize(attributes, Self.stackSize)
            return withUnsafeTemporaryAllocation(of: sigset_t.self, capacity: 2) { masks in
                guard let all = masks.baseAddress else { return ENOMEM }
                sigfillset(all)
                // The new thread inherits the mask.
                pthread_sigmask(SIG_BLOCK, all, all + 1)
                defer { pthread_sigmask(SIG_SETMASK, all + 1, nil) }
                var thread = pthread_t()
                return pthread_create(
                    &thread,
                    attributes,
                    { context in
                        guard let context else { return nil }
                        Unmanaged<WorkerPool>.fromOpaque(context).takeRetainedValue().run()
                        return nil
                    },
                    retained.toOpaque()
                )
            }
        }
        if status == 0 { threads += 1 } else { retained.release() }
        return status
    }
}
