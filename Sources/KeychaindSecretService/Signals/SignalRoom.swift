import KeychaindDBus
import KeychaindVault

/// Lets changes begin as long as their signals have room in the queue, in turn between programs.
///
/// Beside a sandbox a signal is one message for each client, and past 16 MiB of messages no call is handled: a burst of
/// one program would stop all others. A change takes room from its beginning until the bus has taken its signals; one
/// whose disk does not answer lends its room to others.
@BusActor
final class SignalRoom: @BusActor ChangeAdmission {
    private struct Change {
        let size: Int
        var hasRoom = true
    }

    private let connection: Connection
    private let audience: SignalAudience
    private let turns = FairLock<WorkOwner>()
    private var waiting = 0
    /// The room that is taken.
    private var size = 0
    /// Fulfilled once a change has freed room, for the one whose turn it is.
    private var end: Promise<Void>?
    /// The changes that have begun and not ended, by number.
    private var running: [Int: Change] = [:]
    private var lastNumber = 0

    /// Room for the changes of two commits, if signals are broadcast.
    private static let limit = 256 << 10
    /// The bytes of a change's signals besides label and attributes.
    private static let overhead = 1 << 10
    /// How long changes keep room that others wait for.
    private static let patience = Duration.seconds(1)

    init(connection: Connection, audience: SignalAudience) {
        self.connection = connection
        self.audience = audience
    }

    func beginAtOnce(_ bytes: Int) -> Int? {
        let size = size(of: bytes)
        return waiting == 0 && hasRoom(for: size) ? take(size) : nil
    }

    @BusActor
    func begin(_ bytes: Int) async -> Int {
        let size = size(of: bytes)
        await waitForRoom(for: size)
        return take(size)
    }

    private func size(of bytes: Int) -> Int { audience.messagesPerSignal * (bytes + SignalRoom.overhead) }

    private func take(_ size: Int) -> Int {
        self.size += size
        lastNumber += 1
        running[lastNumber] = Change(size: size)
        return lastNumber
    }

    func end(_ number: Int) {
        guard let change = running.removeValue(forKey: number) else { return }
        let size = change.size
        if !change.hasRoom { self.size += size }
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
            if await !end.wait(within: SignalRoom.patience) { lendRoom() }
        }
        waiting -= 1
        turns.unlock()
    }

    /// Frees the room of the changes that have not ended; none has begun while one waited for its turn.
    private func lendRoom() {
        for (number, change) in running where change.hasRoom {
            running[number]?.hasRoom = false
            size -= change.size
        }
    }

    private func free(_ size: Int) {
        self.size -= size
        end?.fulfill()
        end = nil
    }
}
