import Authentication
import DBus
import Desktop
import KeychainModel
import Vault

/// Decides who may have which item at this moment, and remembers to whom one was granted.
///
/// A protected item is locked to every caller but those with a grant, which is for reading. Each change takes an authorisation of its
/// own: else an item could be exchanged for one that a program chooses, or its access control taken off, by a yes to something else.
@BusActor
final class ItemAccess {
    /// Called when an item is locked to a caller now, or no longer.
    var onChange: (@BusActor (_ item: ItemReference, _ isLocked: Bool, _ caller: String) -> Void)?

    private let audit: AccessAudit
    private let clock: BootClock
    private var grants = GrantTable<ItemReference, ItemGrant>()
    private var expiry: Timer?

    /// Whether the screen is locked.
    var isSessionLocked = false

    init(audit: AccessAudit, clock: BootClock = .system) {
        self.audit = audit
        self.clock = clock
    }

    // MARK: Verdicts

    /// Whether a caller may have an item.
    func verdict(on id: ItemID, in collection: Collection, for caller: String) -> ItemVerdict {
        guard !collection.isLocked else { return .unavailable(.collectionLocked) }
        if let obstacle = damage(of: id, in: collection) { return .unavailable(obstacle) }
        switch collection.protection(of: id) {
        case .none: return .open
        case .unknown(let reason): return .unavailable(.unreadable(reason: reason))
        case .stated(let protection):
            return verdict(on: ItemReference(id, in: collection), under: protection, for: caller)
        }
    }

    private func verdict(
        on item: ItemReference,
        under protection: Protection,
        for caller: String
    ) -> ItemVerdict {
        let release = Release(
            of: protection.policy,
            protection.accessibility,
            grant: grants.key(of: item, for: caller, at: clock.now),
            isSessionLocked: isSessionLocked
        )
        return switch release {
        case .free: .open
        case .granted(let grant): .granted(grant)
        case .needsAuthentication(let policy): .needsAuthentication(policy)
        case .sessionLocked: .unavailable(.sessionLocked)
        }
    }

    /// Only where the file has a problem can there be items that stay locked in an unlocked collection.
    private func damage(of id: ItemID, in collection: Collection) -> ItemVerdict.Obstacle? {
        guard collection.problem != nil else { return nil }
        switch collection.item(id)?.condition {
        case .intact: return nil
        case .damaged(let reason): return .unreadable(reason: reason)
        case .unread, nil: return .collectionLocked
        }
    }

    /// Whether a caller is told that an item is locked.
    func isLocked(_ id: ItemID, in collection: Collection, for caller: String) -> Bool {
        verdict(on: id, in: collection, for: caller).isLocked
    }

    /// Whether everybody without a grant is told that an item is locked.
    func isLocked(_ id: ItemID, in collection: Collection) -> Bool {
        isLocked(id, in: collection, for: "")
    }

    /// Lets a caller read an item, if it may; throws `IsLocked` if not.
    ///
    /// Nil if no authentication is needed for it.
    func authorize(_ id: ItemID, in collection: Collection, for caller: String) throws(BusError) -> ItemGrant? {
        switch verdict(on: id, in: collection, for: caller) {
        case .open: return nil
        case .granted(let grant): return grant
        case .needsAuthentication:
            audit.denied(id, in: collection, to: caller)
            throw BusError(.isLocked, "item \(id) needs an authentication first")
        case .unavailable(let obstacle):
            if obstacle == .sessionLocked, collection.protection(of: id).needsAuthentication {
                audit.denied(id, in: collection, to: caller, .sessionLocked)
            }
            throw BusError(.isLocked, "\(obstacle)")
        }
    }

    /// Takes note that a caller is given the secret of an item; throws `IsLocked` if it may not have it any more.
    ///
    /// A grant for one release ends with this.
    func release(_ id: ItemID, in collection: Collection, to caller: String) throws(BusError) {
        guard let grant = try authorize(id, in: collection, for: caller) else { return }
        let item = ItemReference(id, in: collection)
        _ = grants.use(item, by: caller, at: clock.now)
        if !grants.isGranted(item, to: caller, at: clock.now) { onChange?(item, true, caller) }
        audit.released(id, in: collection, under: grant)
    }

    // MARK: Grants

    /// Whether an item is in the state in which a person was asked for it, and may still be had by who satisfies its policy.
    func isUnchanged(_ item: ProtectedItem) -> Bool {
        guard case .needsAuthentication(let policy) = verdict(on: item.id, in: item.collection, for: ""),
            policy == item.policy
        else { return false }
        return item.revision != nil && item.collection.revision(of: item.id) == item.revision
    }

    /// Lets a caller have an item for a while, or for one release if that is no time.
    ///
    /// Nothing is granted if the item was locked or changed since the person was asked.
    func grant(_ protected: ProtectedItem, to caller: Caller, for reuse: Duration, key: ItemKey?) {
        guard isUnchanged(protected) else { return }
        let item = protected.reference
        let grant = ItemGrant(to: caller.auditText, key: key)
        grants.grant(item, to: caller.uniqueName, key: grant, reuse: GrantReuse(reuse), at: clock.now)
        onChange?(item, false, caller.uniqueName)
        scheduleExpiry()
    }

    /// Ends what one caller may do with an item.
    func endGrant(of item: ItemReference, to caller: String) {
        guard grants.isGranted(item, to: caller, at: clock.now) else { return }
        grants.remove(item, of: caller)
        onChange?(item, true, caller)
    }

    /// Ends what all callers may do with an item.
    func endGrants(of item: ItemReference) {
        tell(grants.removeAll(for: item))
    }

    /// Ends what all callers may do with the items of a collection.
    func endGrants(in collection: CollectionName) {
        tell(grants.removeAll { $0.collection == collection })
    }

    /// Forgets a caller that has left the bus.
    func forget(_ caller: String) {
        grants.removeAll(of: caller)
    }

    /// Ends all grants.
    func endGrants() {
        tell(grants.removeAll())
    }

    private func tell(_ ended: [GrantTable<ItemReference, ItemGrant>.Holder]) {
        for holder in ended {
            onChange?(holder.object, true, holder.caller)
        }
    }

    private func scheduleExpiry() {
        expiry.map(BusActor.loop.cancel)
        expiry = grants.nextDeadline.map { deadline in
            BusActor.loop.schedule(after: max(.zero, deadline - clock.now)) { [weak self] in
                guard let self else { return }
                expiry = nil
                tell(grants.removeExpired(at: clock.now))
                scheduleExpiry()
            }
        }
    }
}
