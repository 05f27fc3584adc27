/// Asynchronous locks by key: at most one task at a time holds the lock of a key.
@BusActor
package final class KeyedLock<Key: Hashable & Sendable> {
    private var holders: [Key: Promise<Void>] = [:]

    package nonisolated init() {}

    package func lock(_ key: Key) async {
        while let holder = holders[key] { await holder.wait() }
        holders[key] = Promise()
    }

    package func unlock(_ key: Key) {
        holders.removeValue(forKey: key)?.fulfill()
    }
}
