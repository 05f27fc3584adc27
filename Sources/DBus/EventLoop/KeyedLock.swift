/// Asynchronous locks by key: at most one task at a time holds the lock of a key.
@BusActor
package final class KeyedLock<Key: Hashable & Sendable> {
    private var holders: [Key: Promise<Void>] = [:]

    /// Creates free locks.
    package nonisolated init() {}

    /// Acquires the lock of a key, waiting until it is free.
    package func lock(_ key: Key) async {
        while let holder = holders[key] { await holder.wait() }
        holders[key] = Promise()
    }

    /// Releases the lock of a key.
    package func unlock(_ key: Key) {
        holders.removeValue(forKey: key)?.fulfill()
    }
}
