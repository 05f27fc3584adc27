import KeychaindModel

/// When an unlock or a change began: a lock of the collection since then stops it.
package struct LockMoment: Sendable {
    fileprivate let lockCount: UInt64
}

/// When each collection was last locked, counted in locks of all collections.
///
/// By name, as another object may have taken the place of the one that was locked.
final class LockHistory {
    private var count: UInt64 = 0
    private var last: [CollectionName: UInt64] = [:]

    var now: LockMoment { LockMoment(lockCount: count) }

    func note(_ name: CollectionName) {
        count += 1
        last[name] = count
    }

    func contain(_ name: CollectionName, since begun: LockMoment) -> Bool {
        last[name].map { $0 > begun.lockCount } ?? false
    }

    func forget(_ name: CollectionName) {
        last[name] = nil
    }
}

extension Vault {
    /// The present, as the start of an unlock or a change that takes effect later.
    package var unlockStart: LockMoment { context?.locks.now ?? LockMoment(lockCount: 0) }
}

extension Collection {
    /// Whether the collection has been locked since a moment, also if it is unlocked again by now.
    package func wasLocked(since begun: LockMoment) -> Bool { context.locks.contain(name, since: begun) }
}
