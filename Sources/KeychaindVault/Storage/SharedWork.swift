import Glibc

/// Work that another thread of a pool helps with, if one is free before it is done.
///
/// `@unchecked Sendable`: the mutex guards `phase`.
final class SharedWork: WorkerPool.Queue, @unchecked Sendable {
    let name: String

    private enum Phase {
        /// With the number of other threads that work on it.
        case open(@Sendable () -> Void, helpers: Int)
        case closed
    }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var phase: Phase

    /// Calls `body` on this thread and, if one is free, on a thread of the pool at the same time; returns when both
    /// have returned.
    ///
    /// The calls share the work between them: the other one may come late, or not at all.
    static func run(_ name: String, on pool: WorkerPool = .shared, _ body: @escaping @Sendable () -> Void) {
        let work = SharedWork(name, body)
        pool.add(work)
        body()
        work.close()
    }

    private init(_ name: String, _ body: @escaping @Sendable () -> Void) {
        self.name = name
        phase = .open(body, helpers: 0)
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Waits for the other thread, and keeps one that comes later away.
    private func close() {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while case .open(_, 1...) = phase { pthread_cond_wait(condition, mutex) }
        phase = .closed
    }

    // MARK: On a thread of the pool

    func run() {
        guard let body = begin() else { return }
        body()
        end()
    }

    func rest() {}

    private func begin() -> (@Sendable () -> Void)? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard case .open(let body, let helpers) = phase else { return nil }
        phase = .open(body, helpers: helpers + 1)
        return body
    }

    private func end() {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard case .open(let body, let helpers) = phase else { return }
        phase = .open(body, helpers: helpers - 1)
        pthread_cond_signal(condition)
    }
}
