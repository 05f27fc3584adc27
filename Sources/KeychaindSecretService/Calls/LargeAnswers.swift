import KeychaindDBus
import KeychaindDesktop

/// Makes large replies one at a time, in turn between programs.
///
/// A secret on disk may have 16 MiB. Reading those of all waiting calls at once would let one program fill the memory.
@BusActor
final class LargeAnswers {
    private let connection: Connection
    private let limit: Int
    private let sliceLength: Duration
    private let lock: FairLock<Program>
    /// The number of objects up to which a look needs no turn.
    private let fewObjects: Int
    private let looking = FairLock<Program>()

    nonisolated init(connection: Connection, limits: ServiceLimits) {
        self.connection = connection
        limit = limits.largeAnswers
        sliceLength = limits.timeSlice
        fewObjects = limits.objectsAtOnce
        lock = FairLock(waitersPerOwner: limit)
    }

    /// Begins the first slice of a call that lets others in between.
    func beginSlice() -> TimeSlice {
        TimeSlice(sliceLength)
    }

    /// Lets the bus take earlier messages and others' calls be answered, before a reply is checked and sent.
    ///
    /// All bytes leave through one socket: a small answer behind a large one waits until the bus has read that.
    func letOthersGoFirst(_ slice: inout TimeSlice) async {
        await connection.waitForRoom()
        await slice.yield()
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
        connection.longCalls += 1
        defer { connection.longCalls -= 1 }
        try await answer()
    }

    /// Looks at objects in slices, and if there are many, for one call or prompt at a time, in turn between
    /// programs.
    ///
    /// - Parameter look: must wait for nothing but its slices.
    func lookAt<Result: ~Copyable, Failure: Error>(
        _ count: Int,
        for client: Client,
        _ look: (inout TimeSlice) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        guard count > fewObjects else { return try await takeSlices(look) }
        _ = await client.lock(looking)
        defer { looking.unlock() }
        return try await takeSlices(look)
    }

    /// Runs a part of a call that may derive keys or asks a person: in slices, but in no turn, so that no reply waits
    /// for it.
    func takeSlices<Result: ~Copyable, Failure: Error>(
        _ part: (inout TimeSlice) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        connection.longCalls += 1
        defer { connection.longCalls -= 1 }
        var slice = beginSlice()
        return try await part(&slice)
    }
}
