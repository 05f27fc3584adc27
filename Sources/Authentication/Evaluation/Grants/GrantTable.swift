/// Who has been authenticated for what, and until when.
///
/// A grant is for one caller – a connection, by its unique name – and one object, and for nothing else. With it goes a key, for objects
/// that are sealed; it should wipe itself with its last reference. Time is that of ``BootClock``.
package struct GrantTable<Object: Hashable & Sendable, Key> {
    /// A grant without its key: who has it, for what.
    package struct Holder: Hashable, Sendable {
        /// The caller's unique name.
        package let caller: String

        /// What it may have.
        package let object: Object
    }

    private struct Grant {
        let deadline: Duration
        let endsWithUse: Bool
        let key: Key
    }

    private var grants: [String: [Object: Grant]] = [:]

    /// Makes a table without grants.
    package init() {}

    /// Whether there are none, not even expired ones.
    package var isEmpty: Bool { grants.isEmpty }

    /// Lets a caller have an object; an earlier grant of the same is replaced.
    package mutating func grant(_ object: Object, to caller: String, key: Key, reuse: GrantReuse, at now: Duration) {
        let grant = Grant(deadline: now + reuse.lifetime, endsWithUse: reuse.isSingle, key: key)
        grants[caller, default: [:]][object] = grant
    }

    /// Whether the caller has a grant; looking does not use it.
    package func isGranted(_ object: Object, to caller: String, at now: Duration) -> Bool {
        valid(object, caller, now) != nil
    }

    /// The key of a grant, for a look that releases nothing, such as a change of the object; nil if there is no grant.
    package func key(of object: Object, for caller: String, at now: Duration) -> Key? {
        valid(object, caller, now)?.key
    }

    /// Takes what a grant allows, for a release; nil if there is no grant.
    ///
    /// A grant of one release ends with it.
    package mutating func use(_ object: Object, by caller: String, at now: Duration) -> Key? {
        guard let grant = valid(object, caller, now) else { return nil }
        if grant.endsWithUse { remove(object, of: caller) }
        return grant.key
    }

    /// When the next grant ends by itself; nil if there are none.
    package var nextDeadline: Duration? {
        grants.values.lazy.flatMap(\.values).map(\.deadline).min()
    }

    /// Removes the grants that have ended by themselves, and tells which.
    package mutating func removeExpired(at now: Duration) -> [Holder] {
        remove { $1.deadline <= now }
    }

    /// Removes all grants of a caller, as it is gone.
    package mutating func removeAll(of caller: String) {
        grants[caller] = nil
    }

    /// Removes all grants for an object, as it was changed, and tells who had one.
    package mutating func removeAll(for object: Object) -> [Holder] {
        remove { holder, _ in holder.object == object }
    }

    /// Removes the grants for some objects, such as those of a collection, and tells which.
    package mutating func removeAll(where isAffected: (Object) -> Bool) -> [Holder] {
        remove { holder, _ in isAffected(holder.object) }
    }

    /// Removes all grants, as the session was locked, and tells which.
    package mutating func removeAll() -> [Holder] {
        remove { _, _ in true }
    }

    private func valid(_ object: Object, _ caller: String, _ now: Duration) -> Grant? {
        guard let grant = grants[caller]?[object], now < grant.deadline else { return nil }
        return grant
    }

    /// Removes a grant, as its caller gives it up.
    package mutating func remove(_ object: Object, of caller: String) {
        grants[caller]?[object] = nil
        if grants[caller]?.isEmpty == true { grants[caller] = nil }
    }

    private mutating func remove(where isOver: (Holder, Grant) -> Bool) -> [Holder] {
        let removed = grants.flatMap { caller, objects in
            objects.compactMap { object, grant in
                let holder = Holder(caller: caller, object: object)
                return isOver(holder, grant) ? holder : nil
            }
        }
        for holder in removed {
            remove(holder.object, of: holder.caller)
        }
        return removed
    }
}
