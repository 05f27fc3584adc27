import DBus

/// Lets one at a time do something under a name; who comes later waits for the one before to be done.
@BusActor
final class Turns<Name: Hashable> {
    private var waiting: [Name: [Waiter]] = [:]

    nonisolated init() {}

    /// Waits for a turn, which has to be given back with ``end(_:)``.
    func begin(_ name: Name) async {
        _ = await begin(name, unlessEnded: nil)
    }

    /// Waits for a turn as long as a conversation lasts; false, and no turn, if it has ended.
    func begin(_ name: Name, unlessEnded conversation: Conversation?) async -> Bool {
        while let waiters = waiting[name], conversation?.isEnded != true {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(continuation)
                waiting[name] = waiters + [waiter]
                conversation?.finishAtEnd(waiter)
            }
        }
        if conversation?.isEnded == true { return false }
        waiting[name] = []
        return true
    }

    /// Lets the others have their turns, in the order in which they came.
    func end(_ name: Name) {
        for waiter in waiting.removeValue(forKey: name) ?? [] {
            waiter.finish()
        }
    }
}
