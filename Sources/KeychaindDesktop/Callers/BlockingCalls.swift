package import KeychaindDBus

/// Runs blocking calls on separate threads, with limits on time and number.
@BusActor
package final class BlockingCalls {
    private let limit: Int
    private let patience: Duration
    private var running = 0

    /// - Parameters:
    ///   - limit: the number of concurrent calls.
    ///   - patience: the time limit of each call.
    package init(limit: Int, patience: Duration) {
        self.limit = limit
        self.patience = patience
    }

    /// Runs a call; nil if it takes too long, or too many others are running.
    package func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result? {
        guard running < limit else { return nil }
        let promise = Promise<Result>()
        running += 1
        let isStarted = BlockingThread.start {
            let result = body()
            Task(executorPreference: BusActor.loop) { @BusActor [self] in
                running -= 1
                promise.fulfill(result)
            }
        }
        guard isStarted else {
            running -= 1
            return nil
        }
        return await promise.value(within: patience)
    }
}
