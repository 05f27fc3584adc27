package import KeychaindDBus

/// Runs blocking calls on separate threads, with limits on time and number.
@BusActor
package final class BlockingCalls {
    /// Runs a closure on a new thread; returns false, without running it, if none can be created.
    package typealias StartThread = @Sendable (_ body: @escaping @Sendable () -> Void) -> Bool

    private enum Start<Result: Sendable> {
        case started(Promise<Result>)
        case tooManyRun
        /// As many calls for the same culprit run as may; fulfilled when one ends or is overdue.
        case isBusy(Promise<Void>)
        /// Those are all overdue.
        case isOverdue
        case noThread
    }

    /// The calls for one culprit.
    private struct Calls {
        var running = 0
        /// Of those, the ones that still run after their time.
        var overdue = 0
        var change: Promise<Void>?
    }

    /// The time after which a call without a place or a thread is tried again.
    private static let pause = Duration.milliseconds(100)

    private let limit: Int
    private let patience: Duration
    private let mostForOne: Int
    private let startThread: StartThread
    private var running = 0
    /// The running calls by what can make them block.
    private var culprits: [String: Calls] = [:]

    /// - Parameters:
    ///   - limit: the number of concurrent calls.
    ///   - patience: the time limit of each call.
    ///   - mostForOne: the number of concurrent calls for one culprit.
    ///   - startThread: replaced in tests.
    package init(
        limit: Int,
        patience: Duration,
        mostForOne: Int = 4,
        startThread: @escaping StartThread = { body in BlockingThread.start(body) }
    ) {
        self.limit = limit
        self.patience = patience
        self.mostForOne = mostForOne
        self.startThread = startThread
    }

    /// Runs a call; nil if it takes too long, too many others are running, or no thread can be started.
    ///
    /// - Parameter culprit: what can make the call block. At most `mostForOne` calls for it run at once; others wait,
    ///   and take too long if all of these hang.
    package func run<Result: Sendable>(
        for culprit: String? = nil,
        _ body: @escaping @Sendable () -> Result
    ) async -> Result? {
        while true {
            switch start(for: culprit, body) {
            case .started(let promise): return await result(of: promise, for: culprit)
            case .isBusy(let change): await change.wait()
            case .tooManyRun, .isOverdue, .noThread: return nil
            }
        }
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
            case .isBusy(let change): await change.wait()
            case .isOverdue: return nil
            case .tooManyRun, .noThread: await BusActor.loop.wait(for: BlockingCalls.pause)
            }
        }
        return nil
    }

    private func result<Result: Sendable>(of promise: Promise<Result>, for culprit: String?) async -> Result? {
        if let result = await promise.value(within: patience) { return result }
        guard let culprit else { return nil }
        update(culprit) { $0.overdue += 1 }
        promise.onFulfillment { [weak self] _ in self?.update(culprit) { $0.overdue -= 1 } }
        return nil
    }

    private func start<Result: Sendable>(
        for culprit: String?,
        _ body: @escaping @Sendable () -> Result
    ) -> Start<Result> {
        if let culprit, let calls = culprits[culprit], calls.running >= mostForOne {
            if calls.overdue >= mostForOne { return .isOverdue }
            let change = calls.change ?? Promise()
            culprits[culprit]?.change = change
            return .isBusy(change)
        }
        guard running < limit else { return .tooManyRun }
        let promise = Promise<Result>()
        let isStarted = startThread {
            let result = body()
            Task(executorPreference: BusActor.loop) { @BusActor [self] in
                running -= 1
                if let culprit { update(culprit) { $0.running -= 1 } }
                promise.fulfill(result)
            }
        }
        guard isStarted else { return .noThread }
        running += 1
        if let culprit { update(culprit) { $0.running += 1 } }
        return .started(promise)
    }

    /// Changes the numbers of a culprit's calls, and lets those that wait try again.
    private func update(_ culprit: String, _ change: (inout Calls) -> Void) {
        var calls = culprits[culprit] ?? Calls()
        change(&calls)
        calls.change?.fulfill()
        calls.change = nil
        culprits[culprit] = calls.running > 0 || calls.overdue > 0 ? calls : nil
    }
}
