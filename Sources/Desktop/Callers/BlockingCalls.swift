package import DBus

/// Calls that may block, on threads of their own, with a bound on their time and on how many are stuck at once.
@BusActor
package final class BlockingCalls {
    private let limit: Int
    private let patience: Duration
    private var running = 0

    /// - Parameters:
    ///   - limit: how many may run at a time.
    ///   - patience: how long each is waited for.
    package init(limit: Int, patience: Duration) {
        self.limit = limit
        self.patience = patience
    }

    /// Makes a call; nil if it takes too long, or too many others are stuck already.
    package func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result? {
        guard running < limit else { return nil }
        return await withCheckedContinuation { continuation in
            let outcome = Outcome<Result>(continuation)
            let timer = BusActor.loop.schedule(after: patience) { outcome.finish(nil) }
            running += 1
            let isStarted = BlockingThread.start {
                let result = body()
                Task(executorPreference: BusActor.loop) { @BusActor [self] in
                    running -= 1
                    BusActor.loop.cancel(timer)
                    outcome.finish(result)
                }
            }
            if !isStarted {
                running -= 1
                BusActor.loop.cancel(timer)
                outcome.finish(nil)
            }
        }
    }

    /// An answer that is given once; later ones are dropped.
    @BusActor
    private final class Outcome<Result: Sendable> {
        private var continuation: CheckedContinuation<Result?, Never>?

        init(_ continuation: CheckedContinuation<Result?, Never>) {
            self.continuation = continuation
        }

        func finish(_ result: Result?) {
            continuation?.resume(returning: result)
            continuation = nil
        }
    }
}
