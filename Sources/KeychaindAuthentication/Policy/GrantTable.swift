/// The grants of one caller, with times of ``BootClock``.
///
/// A grant carries the key of a sealed object; the key should wipe itself with its last reference.
package struct GrantTable<Object: Hashable & Sendable, Key> {
    private struct Grant {
        let deadline: Duration
        let endsWithUse: Bool
        let key: Key
    }

    private var grants: [Object: Grant] = [:]
    /// The deadlines of the grants, and of some that have ended before; the first one is that of a grant.
    private var deadlines = DeadlineHeap<Object>()

    package init() {}

    /// Whether there are no grants, not even expired ones.
    package var isEmpty: Bool { grants.isEmpty }

    /// Grants an object, replacing its earlier grant.
    package mutating func grant(_ object: Object, key: Key, reuse: GrantReuse, at now: Duration) {
        let deadline = now + reuse.lifetime
        grants[object] = Grant(deadline: deadline, endsWithUse: reuse.isSingle, key: key)
        deadlines.insert(object, at: deadline)
        dropEndedDeadlines()
    }

    package func isGranted(_ object: Object, at now: Duration) -> Bool {
        valid(object, now) != nil
    }

    /// The key of a grant, without using it.
    package func key(of object: Object, at now: Duration) -> Key? {
        valid(object, now)?.key
    }

    /// Uses a grant for a release, which ends a grant for a single release.
    package mutating func use(_ object: Object, at now: Duration) -> Key? {
        guard let grant = valid(object, now) else { return nil }
        if grant.endsWithUse { remove(object) }
        return grant.key
    }

    package var nextDeadline: Duration? { deadlines.first?.deadline }

    /// Removes expired grants, at most as many as the limit, and returns their objects.
    package mutating func removeExpired(at now: Duration) -> [Object] {
        var removed: [Object] = []
        while let (deadline, object) = deadlines.first, deadline <= now {
            removed.append(object)
            remove(object)
        }
        return removed
    }

    /// Removes the grant of an object; false if there is none.
    @discardableResult
    package mutating func remove(_ object: Object) -> Bool {
        guard grants.removeValue(forKey: object) != nil else { return false }
        dropEndedDeadlines()
        return true
    }

    /// Removes the matching grants and returns their objects.
    @discardableResult
    package mutating func removeAll(where isAffected: (Object) -> Bool = { _ in true }) -> [Object] {
        let removed = grants.keys.filter(isAffected)
        for object in removed { grants[object] = nil }
        dropEndedDeadlines()
        return removed
    }

    private func valid(_ object: Object, _ now: Duration) -> Grant? {
        guard let grant = grants[object], now < grant.deadline else { return nil }
        return grant
    }

    /// Drops the deadlines of ended grants: those that come first, and all once they are the most.
    private mutating func dropEndedDeadlines() {
        if deadlines.count > 2 * grants.count {
            deadlines = DeadlineHeap(grants.map { (object, grant) in (grant.deadline, object) })
        }
        while let (deadline, object) = deadlines.first, grants[object]?.deadline != deadline { deadlines.removeFirst() }
    }
}

/// The reuse of one authentication for further releases of an object.
package struct GrantReuse: Hashable, Sendable {
    /// As Apple's `LATouchIDAuthenticationMaximumAllowableReuseDuration`.
    package static let maximum = Duration.seconds(300)

    /// The default for callers.
    package static let standard = GrantReuse(.seconds(10))

    /// The lifetime of an unused grant for a single release.
    package static let singleReleaseTime = Duration.seconds(10)

    package let isSingle: Bool

    /// The maximum lifetime of the grant.
    package let lifetime: Duration

    /// Allows releases for a time, at most ``maximum``; zero or less means one release.
    package init(_ duration: Duration) {
        isSingle = duration <= .zero
        lifetime = isSingle ? GrantReuse.singleReleaseTime : min(duration, GrantReuse.maximum)
    }

    package static let single = GrantReuse(.zero)
}
