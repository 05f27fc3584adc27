import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Emits a signal about each of many items, the first at once and the others in later turns of the event loop.
@BusActor
final class ItemNotices {
    private let connection: Connection
    private let atOnce: Int
    private var waiting: [CollectionName: Timer] = [:]

    private static let pause = Duration.milliseconds(2)
    /// Unsent bytes for which the others wait.
    private static let unsentBytes = 64 << 10

    /// - Parameter atOnce: the number of items in a turn.
    init(on connection: Connection, atOnce: Int) {
        self.connection = connection
        self.atOnce = atOnce
    }

    /// Emits the signals about items of a collection, instead of those that wait.
    func emit(
        about ids: ArraySlice<ItemID>,
        in collection: CollectionName,
        _ signal: @escaping @BusActor (ItemID) -> Void
    ) {
        cancel(collection)
        ids.prefix(atOnce).forEach { signal($0) }
        let others = ids.dropFirst(atOnce)
        if !others.isEmpty { emitLater(about: others, in: collection, at: connection.endOfQueue, signal) }
    }

    func cancel(_ collection: CollectionName) {
        waiting.removeValue(forKey: collection).map(BusActor.loop.cancel)
    }

    /// Goes on after a pause, once the bus has taken most of the signals: beside a sandbox, each goes to many clients.
    ///
    /// - Parameter place: the bytes to be sent by then. What is queued later does not count: large replies to a program
    ///   may keep the queue full for ever.
    private func emitLater(
        about ids: ArraySlice<ItemID>,
        in collection: CollectionName,
        at place: Int,
        _ signal: @escaping @BusActor (ItemID) -> Void
    ) {
        waiting[collection] = BusActor.loop.schedule(after: Self.pause) { [weak self] in
            guard let self else { return }
            guard connection.bytesToSend < Self.unsentBytes || connection.sentBytes >= place else {
                return emitLater(about: ids, in: collection, at: place, signal)
            }
            emit(about: ids, in: collection, signal)
        }
    }
}
