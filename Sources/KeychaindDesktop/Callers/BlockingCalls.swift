package import KeychaindDBus

/// Runs blocking calls on separate threads, with limits on time and number.
@BusActor
package final class BlockingCalls {
    /// Runs a closure on a new thread; returns false, without running it, if none can be created.
    package typealias StartThread = @Sendable (_ body: @escaping @Sendable () -> Void) -> Bool

    private enum Start<Result: Sendable> {
        case started(Promise<Result>)
        case tooManyRun
        /// Too many calls for the same culprit are overdue.
        case isOverdue
        case noThread
    }

    /// The time after which a call without a place or a thread is tried again.
    private static let pause = Duration.milliseconds(100)

    private let limit: Int
    private let patience: Duration
    private let mostOverdue: Int
    private let startThread: StartThread
    private var running = 0
    /// The calls that still run after their time, by what makes them block.
    private var overdue: [String: Int] = [:]

    /// - Parameters:
    ///   - limit: the number of concurrent calls.
    ///   - patience: the time limit of each call.
    ///   - mostOverdue: the number of calls for one culprit that may run for longer.
    ///   - startThread: replaced in tests.
    package init(
        limit: Int,
        patience: Duration,
        mostOverdue: Int = 4,
        startThread: @escaping StartThread = { body in BlockingThread.start(body) }
    ) {
        self.limit = limit
        self.patience = patience
        self.mostOverdue = mostOverdue
        self.startThread = startThread
    }

    /// Runs a call; nil if it takes too long, too many others are running, or no thread can be started.
    ///
    /// - Parameter culprit: what can make the call block; if too many calls for it still run after their time, this one
    ///   takes too long without a try.
    package func run<Result: Sendable>(
        for culprit: String? = nil,
        _ body: @escaping @Sendable () -> Result
    ) async -> Result? {
        guard case .started(let promise) = start(for: culprit, body) else { return nil }
        return await result(of: promise, for: culprit)
    }

    /// Runs a call as soon as it has a place and a thread; nil if it takes too long, or is no longer wanted.
    package func runEventually<Result: Sendable>(
        for culprit: String? = nil,
        while isWanted: @BusActor () -> Bool,
        _ body: @escaping @Sendable () -> Result
    ) async -> Result? {
        while isWanted() {
            switch start(for: culprit, body) {
            case .started(let promise): return await result(of: promise, for: culprit)
            case .isOverdue: return nil
            case .tooManyRun, .noThread: await BusActor.loop.wait(for: BlockingCalls.pause)
            }
        }
        return nil
    }

    private func result<Result: Sendable>(of promise: Promise<Result>, for culprit: String?) async -> Result? {
        if let result = await promise.value(within: patience) { return result }
        guard let culprit else { return nil }
        overdue[culprit, default: 0] += 1
        promise.onFulfillment { [weak self] _ in
            guard let self, let count = overdue[culprit] else { return }
            overdue[culprit] = count > 1 ? count - 1 : nil
        }
        return nil
    }

    private func start<Result: Sendable>(
        for culprit: String?,
        _ body: @escaping @Sendable () -> Result
    ) -> Start<Result> {
        if let culprit, overdue[culprit, default: 0] >= mostOverdue { return .isOverdue }
        guard running < limit else { return .tooManyRun }
        let promise = Promise<Result>()
        running += 1
        let isStarted = startThread {
            let result = body()
            Task(executorPreference: BusActor.loop) { @BusActor [self] in
                running -= 1
                promise.fulfill(result)
            }
        }
        guard isStarted else {
            running -= 1
            return .noThread
        }
        return .started(promise)
    }
}
