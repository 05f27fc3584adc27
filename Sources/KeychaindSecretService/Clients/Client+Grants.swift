import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// The grants of a client, with the timer that ends them.
struct ClientGrants {
    fileprivate var table = GrantTable<ItemReference, ItemGrant>()
    /// Fires at its deadline; nil if no grant waits for its end.
    fileprivate var timer: (timer: Timer, deadline: Duration)?
}

extension Client {
    /// The grant of an item; looking does not use it.
    func grant(of item: ItemReference) -> ItemGrant? {
        grants.table.key(of: item, at: environment.clock.now)
    }

    /// Grants an item for a time; zero grants one release.
    func grant(_ item: ItemReference, _ grant: ItemGrant, for reuse: Duration) {
        grants.table.grant(item, key: grant, reuse: GrantReuse(reuse), at: environment.clock.now)
        lockChanged(of: item, to: false)
        scheduleGrantTimer()
    }

    /// Uses a grant; a grant for one release ends.
    func useGrant(of item: ItemReference) {
        let now = environment.clock.now
        _ = grants.table.use(item, at: now)
        if !grants.table.isGranted(item, at: now) { lockChanged(of: item, to: true) }
    }

    /// Ends the grants and authorisations of matching items.
    func endPermissions(where isAffected: (ItemReference) -> Bool) {
        endAuthorizations(where: isAffected)
        endGrants(where: isAffected)
    }

    /// Ends the grant and the authorisations of an item, however many others there are.
    func endPermissions(of item: ItemReference) {
        endAuthorizations(of: item)
        endGrant(of: item)
    }

    func endGrants(where isAffected: (ItemReference) -> Bool = { _ in true }) {
        for item in grants.table.removeAll(where: isAffected) { lockChanged(of: item, to: true) }
    }

    func endGrant(of item: ItemReference) {
        if grants.table.remove(item) { lockChanged(of: item, to: true) }
    }

    /// Wakes at the end of a grant; once too early if that one has ended before.
    private func scheduleGrantTimer() {
        guard let deadline = grants.table.nextDeadline else { return }
        if let (timer, earlier) = grants.timer {
            guard deadline < earlier else { return }
            BusActor.loop.cancel(timer)
        }
        let timer = BusActor.loop.schedule(after: max(.zero, deadline - environment.clock.now)) { [weak self] in
            self?.endExpiredGrants()
        }
        grants.timer = (timer, deadline)
    }

    /// Ends the grants whose time is over.
    private func endExpiredGrants() {
        for item in grants.table.removeExpired(at: environment.clock.now) { lockChanged(of: item, to: true) }
        grants.timer = nil
        scheduleGrantTimer()
    }

    /// Ends all grants of a client that has left, without a signal.
    func dropGrants() {
        grants.table.removeAll()
        if let (timer, _) = grants.timer { BusActor.loop.cancel(timer) }
    }
}

extension PeerTable<Client> {
    func endPermissions(in collection: CollectionName) {
        for client in all { client.endPermissions { $0.collection == collection } }
    }

    func endGrants(of item: ItemReference) {
        for client in all { client.endGrant(of: item) }
    }
}

/// Temporary permission of a client to read an item.
final class ItemGrant {
    /// The key of a sealed item, wiped with its last reference.
    let key: ItemKey?

    /// The caller, as stored in the audit.
    let caller: String

    /// Whether a rule stands in for the item's access control; such a grant ends with the rule.
    let isByRule: Bool

    /// Where its uses are audited: among what takes a person only if one has given it.
    let ring: AuditRing

    init(to caller: String, key: ItemKey?, in ring: AuditRing = .attended) {
        self.caller = caller
        self.key = key
        isByRule = false
        self.ring = ring
    }

    init(byRuleTo caller: String) {
        self.caller = caller
        key = nil
        isByRule = true
        ring = .unattended
    }
}

extension Collection {
    /// Opens the secret of an item, with the key of a grant if it is sealed; nil if it must be read from disk.
    func secret(of id: ItemID, under grant: ItemGrant?) throws(VaultError) -> Secret? {
        guard let key = grant?.key else { return try secret(of: id) }
        return try secret(of: id, with: key)
    }
}
