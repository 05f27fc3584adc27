import DBus

/// Large answers, made one at a time, in turn between clients.
///
/// A secret that is read from the disk may have 16 MiB. If those of all waiting calls were read at once, one client could fill the
/// memory with them.
@BusActor
final class LargeAnswers {
    private let connection: Connection
    private let limit: Int
    private let lock: FairLock<ObjectIdentifier>

    /// - Parameter limit: how many answers of one client may wait.
    nonisolated init(connection: Connection, limit: Int) {
        self.connection = connection
        self.limit = limit
        lock = FairLock(waitersPerOwner: limit)
    }

    /// Makes and sends an answer in the client's turn, once the bus has taken what was sent before.
    ///
    /// Throws `LimitsExceeded` if too many answers of the client wait already.
    func make(for client: Client, _ answer: () async throws(BusError) -> Void) async throws(BusError) {
        guard case .acquired = await lock.lock(for: ObjectIdentifier(client)) else {
            throw BusError(.limitsExceeded, "\(limit) of your answers with large secrets are waiting already")
        }
        defer { lock.unlock() }
        try client.checkConnected()
        await connection.waitForRoom()
        try client.checkConnected()
        try await answer()
    }
}
