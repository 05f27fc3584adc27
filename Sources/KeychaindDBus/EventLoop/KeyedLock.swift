/// Asynchronous locks by key: at most one task at a time holds the lock of a key, in the order of their arrival.
@BusActor
package final class KeyedLock<Key: Hashable & Sendable> {
    /// The tasks that wait for each key that is held.
    private var waiters: [Key: ArraySlice<CheckedContinuation<Void, Never>>] = [:]

    package nonisolated init() {}

    package func lock(_ key: Key) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            // Looked up here: if the lock were looked up before the suspension, another task could take it meanwhile.
            guard waiters[key] != nil else {
                waiters[key] = []
                return continuation.resume()
            }
            waiters[key]?.append(continuation)
        }
    }

    package func unlock(_ key: Key) {
        // The lock stays held for the next one: a task that comes before it runs would overtake it.
        guard let next = waiters[key]?.popFirst() else {
            waiters[key] = nil
            return
        }
        next.resume()
    }
}
