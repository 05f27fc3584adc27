package import KeychaindDBus

/// Runs blocking calls on separate threads, with limits on time and number.
@BusActor
package final class BlockingCalls {
    /// Runs a closure on a new thread; returns false, without running it, if none can be created.
    package typealias StartThread = @Sendable (_ body: @escaping @Sendable () -> Void) -> Bool

    private enum Start<Result: Sendable> {
        case started(Promise<Result>)
        case tooManyRun
        case noThread
    }

    /// The time after which a thread is tried again.
    private static let pause = Duration.milliseconds(100)

    private let limit: Int
    private let patience: Duration
    private let startThread: StartThread
    private var running = 0

    /// - Parameters:
    ///   - limit: the number of concurrent calls.
    ///   - patience: the time limit of each call.
    ///   - startThread: replaced in tests.
    package init(
        limit: Int,
        patience: Duration,
        startThread: @escaping StartThread = { body in BlockingThread.start(body) }
    ) {
        self.limit = limit
        self.patience = patience
        self.startThread = startThread
    }

    /// Runs a call; nil if it takes too long, too many others are running, or no thread can be started.
    package func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result? {
        guard case .started(let promise) = start(body) else { return nil }
        return await promise.value(within: patience)
    }

    /// Runs a call as soon as a thread can be started; nil if it takes too long, too many others are running, or it is
    /// no longer wanted.
    package func runEventually<Result: Sendable>(
        while isWanted: @BusActor () -> Bool,
        _ body: @escaping @Sendable () -> Result
    ) async -> Result? {
        while isWanted() {
            switch start(body) {
            case .started(let promise): return await promise.value(within: patience)
            case .tooManyRun: return nil
            case .noThread: await BusActor.loop.wait(for: BlockingCalls.pause)
            }
        }
        return nil
    }

    private func start<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Start<Result> {
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
