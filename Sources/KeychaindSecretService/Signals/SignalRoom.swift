import KeychaindDBus
import KeychaindVault

/// Lets changes begin as long as their signals have room in the queue, in turn between clients.
///
/// Beside a sandbox a signal is one message for each client, and past 16 MiB of messages no call is handled: a burst of
/// one program would stop all others. A change takes room from its beginning until the bus has taken its signals.
@BusActor
final class SignalRoom: @BusActor ChangeAdmission {
    private let connection: Connection
    private let audience: SignalAudience
    private let turns = FairLock<WorkOwner>()
    private var waiting = 0
    /// The room that is taken.
    private var size = 0
    /// What the change whose turn it is waits for.
    private var end: Promise<Void>?

    /// Room for the changes of two commits, if signals are broadcast.
    private static let limit = 256 << 10
    /// The bytes of a change's signals besides label and attributes.
    private static let overhead = 1 << 10

    init(connection: Connection, audience: SignalAudience) {
        self.connection = connection
        self.audience = audience
    }

    @BusActor
    func begin(_ bytes: Int) async -> Int {
        let size = audience.messagesPerSignal * (bytes + SignalRoom.overhead)
        if waiting > 0 || !hasRoom(for: size) { await waitForRoom(for: size) }
        self.size += size
        return size
    }

    func end(_ size: Int) {
        guard connection.sentBytes < connection.endOfQueue + size - SignalRoom.limit else { return free(size) }
        BusActor.start { [self] in
            // The signals are queued meanwhile.
            await Task.yield()
            await connection.waitUntilSent(connection.endOfQueue - SignalRoom.limit)
            free(size)
        }
    }

    /// A change has room alone, whatever its size.
    private func hasRoom(for size: Int) -> Bool { self.size == 0 || self.size + size <= SignalRoom.limit }

    private func waitForRoom(for size: Int) async {
        waiting += 1
        _ = await turns.lock(for: .current)
        while !hasRoom(for: size) {
            let end = Promise<Void>()
            self.end = end
            await end.wait()
        }
        waiting -= 1
        turns.unlock()
    }

    private func free(_ size: Int) {
        self.size -= size
        end?.fulfill()
        end = nil
    }
}
