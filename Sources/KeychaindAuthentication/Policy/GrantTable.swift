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

    package init() {}

    /// Whether there are no grants, not even expired ones.
    package var isEmpty: Bool { grants.isEmpty }

    /// Grants an object, replacing its earlier grant.
    package mutating func grant(_ object: Object, key: Key, reuse: GrantReuse, at now: Duration) {
        grants[object] = Grant(deadline: now + reuse.lifetime, endsWithUse: reuse.isSingle, key: key)
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
        if grant.endsWithUse { grants[object] = nil }
        return grant.key
    }

    package var nextDeadline: Duration? {
        grants.values.lazy.map(\.deadline).min()
    }

    package mutating func removeExpired(at now: Duration) -> [Object] {
        remove { $1.deadline <= now }
    }

    /// Removes the matching grants and returns their objects.
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
