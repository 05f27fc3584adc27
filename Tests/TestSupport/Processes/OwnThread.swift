import Dispatch
import Foundation
import Synchronization

/// An executor with one thread, for tests of functions that block.
///
/// The concurrency pool has a thread per processor. Blocked, they would hold up every other test, whose grants would
/// end.
package final class OwnThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    // Counts the jobs, and the end.
    private let work = DispatchSemaphore(value: 0)

    private init() {
        Thread.detachNewThread { [self] in
            while true {
                work.wait()
                guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
                job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }

    /// Runs a body and its child tasks on a thread of their own.
    package static func run(_ body: () async throws -> Void) async throws {
        let thread = OwnThread()
        // No job is left then: unstructured tasks do not inherit the executor.
        defer { thread.work.signal() }
        try await withTaskExecutorPreference(thread) { try await body() }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        work.signal()
    }
}
