import KeychaindDBus
import KeychaindDesktop

/// Makes large replies one at a time, in turn between programs.
///
/// A secret on disk may have 16 MiB. Reading those of all waiting calls at once would let one program fill the memory.
@BusActor
final class LargeAnswers {
    private let connection: Connection
    private let limit: Int
    private let lock: FairLock<Program>

    nonisolated init(connection: Connection, limits: ServiceLimits) {
        self.connection = connection
        limit = limits.largeAnswers
        lock = FairLock(waitersPerOwner: limit)
    }

    /// Makes a reply in the turn of the client's program, once the bus has taken the earlier messages.
    ///
    /// Throws `LimitsExceeded` past the limit.
    func make(for client: Client, _ answer: () async throws(BusError) -> Void) async throws(BusError) {
        guard case .acquired = await client.lock(lock) else {
            throw BusError(.limitsExceeded, "\(limit) of your calls for large replies are waiting already")
        }
        defer { lock.unlock() }
        try client.checkConnected()
        await connection.waitForRoom()
        try client.checkConnected()
        try await answer()
    }
}
