/// An asynchronous lock that serves its waiters round-robin by owner, and in order of arrival for each owner.
@BusActor
package final class FairLock<Owner: Hashable & Sendable> {
    package enum Outcome: Sendable {
        case acquired
        /// The owner already has as many waiters as the limit allows.
        case refused
    }

    private enum State {
        case free
        case held
    }

    private struct Waiter: Equatable {
        let number: UInt64
        let continuation: CheckedContinuation<Outcome, Never>

        static func == (left: Waiter, right: Waiter) -> Bool { left.number == right.number }
    }

    private let limit: Int
    private var state = State.free
    private var waiters = FairQueue<Owner, Waiter>(limit: .max)
    private var waiterCount: UInt64 = 0

    /// - Parameter limit: the most waiters per owner.
    package nonisolated init(waitersPerOwner limit: Int = .max) {
        self.limit = limit
    }

    package var isHeld: Bool {
        if case .held = state { true } else { false }
    }

    package func lock(for owner: Owner) async -> Outcome {
        await withCheckedContinuation { continuation in
            // In here: a suspension before would let others run in between.
            if case .free = state {
                state = .held
                return continuation.resume(returning: .acquired)
            }
            guard waiters.count(of: owner) < limit else { return continuation.resume(returning: .refused) }
            waiterCount += 1
            _ = waiters.insert(Waiter(number: waiterCount, continuation: continuation), of: owner)
        }
    }

    package func unlock() {
        guard case .held = state else { preconditionFailure("a free lock cannot be unlocked") }
        guard let next = waiters.takeNext() else { return state = .free }
        next.continuation.resume(returning: .acquired)
    }
}
