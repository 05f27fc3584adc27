import DBus

/// Makes one large answer at a time, in turn between the callers.
///
/// A secret that has to be read from the disk may be of 16 MiB. If those of all calls that wait were read at once, one caller
/// could fill the memory with them.
@BusActor
final class LargeAnswers {
    private enum State {
        case idle
        /// An answer is being made; the others follow.
        case busy
    }

    /// What has become of a call that waited.
    private enum Turn {
        case given
        /// Its caller has left the bus.
        case withdrawn
    }

    private let connection: Connection
    private let limit: Int
    private var state = State.idle
    private var waiting = FairQueue<String, UInt64>(limit: .max)
    private var continuations: [UInt64: CheckedContinuation<Turn, Never>] = [:]
    private var count: UInt64 = 0

    /// - Parameter limit: how many answers of one caller may wait.
    nonisolated init(connection: Connection, limit: Int) {
        self.connection = connection
        self.limit = limit
    }

    /// Runs a closure that makes and sends an answer, when it is the caller's turn and the bus has taken what was sent before.
    ///
    /// Throws `LimitsExceeded` if too many answers of the caller wait already.
    func make(for caller: String, _ answer: () async throws(BusError) -> Void) async throws(BusError) {
        guard waiting.count(of: caller) < limit else {
            throw BusError(.limitsExceeded, "\(limit) answers of yours with large secrets are waited for already")
        }
        guard case .given = await takeTurn(caller) else { throw LargeAnswers.callerLeft }
        defer { end() }
        await connection.waitForRoom()
        guard connection.server?.hasWaitingCalls(of: caller) == true else { throw LargeAnswers.callerLeft }
        try await answer()
    }

    /// Makes no answers for a caller that has left the bus.
    func forget(_ caller: String) {
        for number in waiting.removeAll(of: caller) {
            continuations.removeValue(forKey: number)?.resume(returning: .withdrawn)
        }
    }

    private static let callerLeft = BusError(.noReply, "the caller has left the bus")

    private func takeTurn(_ caller: String) async -> Turn {
        await withCheckedContinuation { continuation in
            // In here, since to suspend may let others run first.
            guard case .busy = state else {
                state = .busy
                return continuation.resume(returning: .given)
            }
            count += 1
            continuations[count] = continuation
            _ = waiting.insert(count, of: caller)
        }
    }

    private func end() {
        guard let next = waiting.takeNext() else { return state = .idle }
        continuations.removeValue(forKey: next)?.resume(returning: .given)
    }
}
