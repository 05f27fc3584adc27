import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindVault

/// Audits access to protected items, without secrets or labels.
@BusActor
final class AccessAudit {
    private let recorder: AuditRecorder

    /// Called when the audit could be written, or with the reason why not.
    var onSync: (@BusActor (VaultError?) -> Void)?

    init(recorder: AuditRecorder) {
        self.recorder = recorder
    }

    /// Waits until the events of known callers are on the disk; throws if they cannot be written.
    func sync() async throws(BusError) {
        do throws(VaultError) {
            try await recorder.sync()
            onSync?(nil)
        } catch {
            onSync?(error)
            throw BusError(error)
        }
    }

    /// - Parameter kind: a release, or the use of a key that stays.
    func released(
        _ id: ItemID,
        in collection: Collection,
        to caller: String,
        ring: AuditRing,
        _ kind: AuditEntry.Kind,
        by rule: String
    ) {
        recorder.record(event(kind, id, in: collection, ring: ring, by: rule), by: AuditedCaller(packed: caller))
    }

    /// Records a read without a grant that a rule has decided; programs can cause any number.
    func released(
        _ id: ItemID,
        in collection: Collection,
        to client: Client,
        _ kind: AuditEntry.Kind,
        by rule: String
    ) {
        recorder.record(event(kind, id, in: collection, ring: .unattended, by: rule), by: client)
    }

    /// Records a change of rules that a person has allowed, one entry for each.
    func rulesChanged(_ rules: [String], by caller: Caller) {
        for rule in rules.prefix(AccessAudit.rulesPerChange) {
            recorder.record(AuditEvent(.ruleChange, in: .attended, rule: rule), by: AuditedCaller(caller))
        }
    }

    /// The most rules of one change that are named; more would displace other entries.
    private static let rulesPerChange = 100

    /// Records a request without a grant, or behind a locked screen.
    func denied(
        _ id: ItemID,
        in collection: Collection,
        to client: Client,
        _ outcome: AuditOutcome = .failed(.notInteractive),
        by rule: String = ""
    ) {
        recorder.record(event(.denial, id, in: collection, ring: .unattended, outcome, by: rule), by: client)
    }

    /// - Parameter isByPerson: false if a program may have given all proofs.
    func authenticated(
        to action: ItemAction,
        _ id: ItemID,
        in collection: Collection,
        for caller: Caller,
        _ outcome: EvaluationOutcome,
        isByPerson: Bool = true
    ) {
        recorder.record(
            event(action.audited, id, in: collection, ring: isByPerson ? outcome.ring : .unattended, outcome.audited),
            by: AuditedCaller(caller)
        )
    }

    /// Records a wrong password that a program has supplied; its tries are delayed, so there are few.
    func passwordWasWrong(of collection: CollectionName, from caller: Caller) {
        recorder.record(wrongPassword(of: collection), by: AuditedCaller(caller))
    }

    func passwordWasWrong(of collection: CollectionName, from client: Client) {
        recorder.record(wrongPassword(of: collection), by: client)
    }

    private func wrongPassword(of collection: CollectionName) -> AuditEvent {
        AuditEvent(
            .authentication,
            in: .unattended,
            item: .collection(collection),
            outcome: .failed(.authenticationFailed)
        )
    }

    /// Records the evaluation of a policy that belongs to no item, as by a context.
    func authenticated(_ policy: Policy, for caller: Caller, _ outcome: EvaluationOutcome) {
        recorder.record(
            AuditEvent(.authentication, in: outcome.ring, policy: policy.text, outcome: outcome.audited),
            by: AuditedCaller(caller)
        )
    }

    /// Records a change of an item's access control, with the new policy.
    ///
    /// - Parameter isAuthenticated: false for the first protection of an item.
    func accessControlChanged(
        _ id: ItemID,
        in collection: Collection,
        by client: Client,
        authenticated isAuthenticated: Bool
    ) {
        let ring = isAuthenticated ? AuditRing.attended : .unattended
        recorder.record(event(.accessControlChange, id, in: collection, ring: ring), by: client)
    }

    /// Records a change of a protected item that keeps its protection.
    func changed(_ id: ItemID, in collection: Collection, by client: Client) {
        recorder.record(event(.change, id, in: collection), by: client)
    }

    /// Records the deletion of a protected item, or of a collection with some.
    ///
    /// - Parameter policy: empty for a collection.
    func deleted(_ path: ObjectPath, policy: String = "", by client: Client) {
        recorder.record(AuditEvent(.deletion, in: .attended, item: path, policy: policy), by: client)
    }

    /// Records the import of an application's portal secret, which any program can cause.
    func imported(_ id: ItemID, in collection: Collection, by client: Client) {
        recorder.record(event(.portalImport, id, in: collection, ring: .unattended), by: client)
    }

    var followers: AuditFollowers { recorder.followers }

    private func event(
        _ kind: AuditEntry.Kind,
        _ id: ItemID,
        in collection: Collection,
        ring: AuditRing = .attended,
        _ outcome: AuditOutcome = .success,
        by rule: String = ""
    ) -> AuditEvent {
        AuditEvent(
            kind,
            in: ring,
            item: .item(id, in: collection.name),
            policy: collection.policyText(of: id),
            outcome: outcome,
            rule: rule
        )
    }
}

extension Caller {
    /// The caller and its evidence, as stored in the audit.
    var auditText: String { AuditedCaller(self).packed }
}

extension EvaluationOutcome {
    /// A success takes a person; a failure does not.
    fileprivate var ring: AuditRing {
        if case .satisfied = self { .attended } else { .unattended }
    }

    fileprivate var audited: AuditOutcome {
        switch self {
        case .satisfied: .success
        case .failed(let error) where error.cause == .prompterNotTrusted: .prompterNotTrusted
        case .failed(let error): .failed(error.code)
        }
    }
}

extension Policy {
    /// The alternatives of the policy, in the words of access controls.
    fileprivate var text: String {
        alternatives.map { $0.factors.map(\.constraint.rawValue).joined(separator: " and ") }.joined(separator: " or ")
    }
}

extension Factor {
    fileprivate var constraint: Constraint {
        switch self {
        case .biometryAny: .biometryAny
        case .biometryCurrentSet: .biometryCurrentSet
        case .passcode: .devicePasscode
        case .applicationPassword: .applicationPassword
        }
    }
}

extension Collection {
    /// The access control of an item as written; empty if it requires no proof or is unreadable.
    func policyText(of id: ItemID) -> String {
        guard case .stated(let protection) = protection(of: id), protection.policy != nil else { return "" }
        return protection.accessControl?.description ?? ""
    }
}
