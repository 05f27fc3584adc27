import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindRules
import KeychaindVault

/// The permission to read an item, as long as nothing is awaited.
struct ReadPermission {
    /// The grant, if it takes one.
    let grant: ItemGrant?

    /// The decision of the rules.
    fileprivate let decision: RuleDecision

    /// Whether it takes a grant of the client; that of a rule is none.
    var takesGrant: Bool { grant.map { !$0.isByRule } ?? false }

    /// Whether its use is audited.
    var isAudited: Bool { grant != nil || decision.isByRule }
}

/// Decides whether a client may read an item now.
///
/// A protected item is locked to clients without a grant, and a grant covers reading only. Each change takes its own
/// authorisation: with an approval of something else, a program could replace the item or remove its access control.
@BusActor
final class ItemAccess {
    let rules: ItemRules

    private let audit: AccessAudit

    var isSessionLocked = false

    /// The number of times that all authentications have ended, as by a lock of the screen.
    private(set) var endings: UInt64 = 0

    nonisolated init(audit: AccessAudit, rules: ItemRules) {
        self.audit = audit
        self.rules = rules
    }

    // MARK: Verdicts

    /// The verdict on an item; a nil client stands for one without grants and rules.
    func verdict(on id: ItemID, in collection: Collection, for client: Client?) -> ItemVerdict {
        guard let client else { return ownVerdict(on: id, in: collection, for: nil) }
        return ruledVerdict(on: id, in: collection, for: client).verdict
    }

    /// Whether every client may read all items of a collection.
    func isOpen(_ collection: Collection) -> Bool {
        !rules.isActive && !collection.isLocked && !collection.hasProtectedItems && !collection.hasProblem
    }

    private func ruledVerdict(
        on id: ItemID,
        in collection: Collection,
        for client: Client
    ) -> (verdict: ItemVerdict, decision: RuleDecision) {
        guard !isOpen(collection) else { return (.open, .none) }
        let own = ownVerdict(on: id, in: collection, for: client)
        guard rules.isActive else { return (own, .none) }
        let decision = rules.decision(on: id, in: collection, for: client)
        return (rules.verdict(decision, after: own, on: id, in: collection, for: client), decision)
    }

    /// The verdict of the item's own protection.
    private func ownVerdict(on id: ItemID, in collection: Collection, for client: Client?) -> ItemVerdict {
        guard !collection.isLocked else { return .unavailable(.collectionLocked) }
        if let obstacle = damage(of: id, in: collection) { return .unavailable(obstacle) }
        switch collection.protection(of: id) {
        case .none: return .open
        case .unknown(let reason): return .unavailable(.unreadable(reason: reason))
        case .stated(let protection):
            let release = Release(
                of: protection.policy,
                protection.accessibility,
                grant: client?.grant(of: ItemReference(id, in: collection)),
                isSessionLocked: isSessionLocked
            )
            return switch release {
            case .free: .open
            case .granted(let grant): .granted(grant)
            case .needsAuthentication(let policy): .needsAuthentication(policy)
            case .sessionLocked: .unavailable(.sessionLocked)
            }
        }
    }

    /// The damage of an item; in an unlocked collection, only a file with a problem has locked items.
    private func damage(of id: ItemID, in collection: Collection) -> ItemVerdict.Obstacle? {
        guard collection.hasProblem else { return nil }
        switch collection.item(id)?.condition {
        case .intact: return nil
        case .damaged(let reason): return .unreadable(reason: reason)
        case .unread, nil: return .collectionLocked
        }
    }

    /// Whether a rule has a person asked now whether a client may read an item.
    ///
    /// False while the screen is locked, since anybody could answer.
    func asksPerson(about id: ItemID, in collection: Collection, for client: Client) -> Bool {
        guard !isSessionLocked, case .needsConfirmation = verdict(on: id, in: collection, for: client) else {
            return false
        }
        return true
    }

    /// Whether an item is locked; a nil client stands for one without grants and rules.
    func isLocked(_ id: ItemID, in collection: Collection, for client: Client?) -> Bool {
        verdict(on: id, in: collection, for: client).isLocked
    }

    // MARK: Reading

    /// Authorises reading; throws `IsLocked` if the item takes a grant that the client does not have.
    ///
    /// Throws `NoSuchObject` if the item exists for the client no more.
    ///
    /// - Parameter isFound: whether nothing was awaited since the item was found for the client.
    func authorize(
        _ id: ItemID,
        in collection: Collection,
        for client: Client,
        isFound: Bool = false
    ) throws(BusError) -> ReadPermission {
        guard isFound || client.sees(id, in: collection) else {
            throw BusError(.noSuchObject, "there is no item \(id)")
        }
        let (verdict, decision) = ruledVerdict(on: id, in: collection, for: client)
        switch verdict {
        case .open: return ReadPermission(grant: nil, decision: decision)
        case .granted(let grant): return ReadPermission(grant: grant, decision: decision)
        case .needsAuthentication:
            audit.denied(id, in: collection, to: client)
            throw BusError(.isLocked, "item \(id) needs an authentication first")
        case .needsConfirmation:
            let rule = rules.record(decision, on: id, in: collection, for: client, isRelease: false)
            guard !isSessionLocked else {
                audit.denied(id, in: collection, to: client, .sessionLocked, by: rule)
                throw BusError(.sessionLocked)
            }
            audit.denied(id, in: collection, to: client, by: rule)
            throw BusError(.isLocked, "a rule asks a person about item \(id) first")
        case .unavailable(.forbidden):
            let rule = rules.record(decision, on: id, in: collection, for: client, isRelease: false)
            audit.denied(id, in: collection, to: client, .forbidden, by: rule)
            throw BusError(.forbidden)
        case .unavailable(let obstacle):
            if obstacle == .sessionLocked, collection.protection(of: id).needsAuthentication {
                audit.denied(id, in: collection, to: client, .sessionLocked)
            }
            throw BusError(obstacle)
        }
    }

    /// Uses a permission, and audits a grant or what rules have decided; a grant for one release ends.
    ///
    /// - Parameter kind: a release, or the use of a key that stays.
    func use(
        _ permission: ReadPermission,
        of id: ItemID,
        in collection: Collection,
        by client: Client,
        _ kind: AuditEntry.Kind = .release
    ) {
        guard permission.isAudited else { return }
        let rule = rules.record(permission.decision, on: id, in: collection, for: client, isRelease: true)
        guard let grant = permission.grant else {
            return audit.released(id, in: collection, to: client, kind, by: rule)
        }
        if !grant.isByRule { client.useGrant(of: ItemReference(id, in: collection)) }
        audit.released(id, in: collection, to: grant.caller, ring: grant.ring, kind, by: rule)
    }

    /// Whether a rule forbids a client an item, whatever else is in its way.
    func isForbidden(_ id: ItemID, in collection: Collection, for client: Client) -> Bool {
        rules.isActive && rules.decision(on: id, in: collection, for: client).action >= .never
    }

    /// Throws `AccessDenied` if a client would have an item under a more lenient rule with other attributes, or would
    /// no longer see it.
    ///
    /// Otherwise a program could change what a rule is about, and read it then.
    func checkRules(
        on id: ItemID,
        in collection: Collection,
        with attributes: Attributes,
        for client: Client
    ) throws(BusError) {
        guard rules.isActive else { return }
        try checkVisible(RuleSubject(id, in: collection.name, with: attributes), for: client)
        guard rules.loosens(id, in: collection, with: attributes, for: client) else { return }
        throw BusError(.accessDenied, "a rule is about item \(id) with its present attributes")
    }

    /// Throws `AccessDenied` if a rule hides such an item from a client.
    ///
    /// A program that stores what it cannot find would store it again each time.
    func checkVisible(_ subject: RuleSubject, for client: Client) throws(BusError) {
        guard rules.hides(subject, from: client) else { return }
        throw BusError(.accessDenied, "a rule hides items with these attributes from the program")
    }

    /// Authorises and audits a release after the read; throws `IsLocked` if access has ended.
    @discardableResult
    func release(
        _ id: ItemID,
        in collection: Collection,
        to client: Client,
        _ kind: AuditEntry.Kind = .release
    ) throws(BusError) -> ReadPermission {
        let permission = try authorize(id, in: collection, for: client)
        use(permission, of: id, in: collection, by: client, kind)
        return permission
    }

    /// Waits until what was audited is on the disk, before a secret leaves.
    ///
    /// Throws `InputOutput` if it cannot be written, and `IsLocked` if access has ended meanwhile.
    func syncAudit(for client: Client) async throws(BusError) {
        let conditions = AccessConditions(for: client, self)
        let wasSessionLocked = isSessionLocked
        try await audit.sync()
        try client.checkConnected()
        // What rules share with a sandbox is looked at item by item.
        let holds =
            client.view.isConfined ? wasSessionLocked == isSessionLocked : conditions.hold(for: client, self)
        guard holds else { throw ItemAccess.hasEnded }
    }

    static var hasEnded: BusError { BusError(.isLocked, "access has ended while it was written into the audit") }

    // MARK: Granting

    /// Whether an item still has the state and the policy that a person was asked about.
    func isUnchanged(_ item: ProtectedItem) -> Bool {
        guard case .needsAuthentication(let policy) = verdict(on: item.id, in: item.collection, for: nil),
            policy == item.policy
        else { return false }
        return item.revision != nil && item.collection.revision(of: item.id) == item.revision
    }

    /// Grants an item for a time, or for one release if zero; grants nothing if it was locked or changed meanwhile.
    ///
    /// - Parameter isByPerson: false if a program may have given all proofs.
    func grant(
        _ item: ProtectedItem,
        to client: Client,
        _ caller: Caller,
        for reuse: Duration,
        key: ItemKey?,
        isByPerson: Bool
    ) {
        guard isUnchanged(item) else { return }
        let grant = ItemGrant(to: caller.auditText, key: key, in: isByPerson ? .attended : .unattended)
        client.grant(item.reference, grant, for: reuse)
    }

    /// Ends the authorisations that calls have taken and not used yet.
    func endAuthorizations() {
        endings &+= 1
    }
}
