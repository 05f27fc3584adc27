import DBus

/// Lets one at a time do something under a name; who comes later waits for the one before to be done.
@BusActor
final class Turns<Name: Hashable> {
    private var waiting: [Name: [Waiter]] = [:]

    nonisolated init() {}

    /// Waits for a turn, which has to be given back with ``end(_:)``.
    func begin(_ name: Name) async {
        while waiting[name] != nil {
            await withCheckedContinuation { continuation in
                // Again, since to suspend may let others run first.
                guard let waiters = waiting[name] else { return continuation.resume() }
                waiting[name] = waiters + [Waiter(continuation)]
            }
        }
        waiting[name] = []
    }

    /// Lets the others have their turns, in the order in which they came.
    func end(_ name: Name) {
        for waiter in waiting.removeValue(forKey: name) ?? [] {
            waiter.finish()
        }
    }
}
