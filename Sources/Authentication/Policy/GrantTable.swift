/// The grants of one caller: what it has been authenticated for, and until when.
///
/// A grant carries the key of a sealed object, which should wipe itself with its last reference. Times are those of
/// ``BootClock``.
package struct GrantTable<Object: Hashable & Sendable, Key> {
    private struct Grant {
        let deadline: Duration
        let endsWithUse: Bool
        let key: Key
    }

    private var grants: [Object: Grant] = [:]

    /// Creates an empty table.
    package init() {}

    /// Whether there are no grants, not even expired ones.
    package var isEmpty: Bool { grants.isEmpty }

    /// Grants an object, in place of any earlier grant of it.
    package mutating func grant(_ object: Object, key: Key, reuse: GrantReuse, at now: Duration) {
        grants[object] = Grant(deadline: now + reuse.lifetime, endsWithUse: reuse.isSingle, key: key)
    }

    /// Whether there is a grant; looking does not use it.
    package func isGranted(_ object: Object, at now: Duration) -> Bool {
        valid(object, now) != nil
    }

    /// The key of a grant, without using it; nil if there is none.
    package func key(of object: Object, at now: Duration) -> Key? {
        valid(object, now)?.key
    }

    /// Uses a grant for a release, which ends a grant for a single one; nil if there is no grant.
    package mutating func use(_ object: Object, at now: Duration) -> Key? {
        guard let grant = valid(object, now) else { return nil }
        if grant.endsWithUse { grants[object] = nil }
        return grant.key
    }

    /// The deadline of the next grant to expire; nil if there are none.
    package var nextDeadline: Duration? {
        grants.values.lazy.map(\.deadline).min()
    }

    /// Removes the expired grants and returns their objects.
    package mutating func removeExpired(at now: Duration) -> [Object] {
        remove { $1.deadline <= now }
    }

    /// Removes the grants of some objects, by default of all, and returns these.
    @discardableResult
    package mutating func removeAll(where isAffected: (Object) -> Bool = { _ in true }) -> [Object] {
        remove { object, _ in isAffected(object) }
    }

    private func valid(_ object: Object, _ now: Duration) -> Grant? {
        guard let grant = grants[object], now < grant.deadline else { return nil }
        return grant
    }

    private mutating func remove(where isOver: (Object, Grant) -> Bool) -> [Object] {
        let removed = grants.filter { isOver($0.key, $0.value) }.map(\.key)
        for object in removed { grants[object] = nil }
        return removed
    }
}

/// How long an authentication serves for further releases of the same object.
package struct GrantReuse: Hashable, Sendable {
    /// The longest that anybody gets, as Apple's (`LATouchIDAuthenticationMaximumAllowableReuseDuration`).
    package static let maximum = Duration.seconds(300)

    /// What a caller gets that has not asked for another one.
    package static let standard = GrantReuse(.seconds(10))

    /// How long a grant for a single release waits for it.
    package static let singleReleaseTime = Duration.seconds(10)

    /// Whether it is for one release only.
    package let isSingle: Bool

    /// How long the grant is good for, in any case.
    package let lifetime: Duration

    /// Allows releases for a time, cut to ``maximum``; zero or less means one release.
    package init(_ duration: Duration) {
        isSingle = duration <= .zero
        lifetime = isSingle ? GrantReuse.singleReleaseTime : min(duration, GrantReuse.maximum)
    }

    /// One release.
    package static let single = GrantReuse(.zero)
}
