import Authentication
import DBus
import Desktop
import KeychainModel
import Vault

/// Writes down who got a protected item, who did not, who was asked, and who changed or deleted one: without secrets, and without
/// labels.
///
/// Nothing waits for it.
@BusActor
final class AccessAudit {
    private let recorder: AuditRecorder

    init(recorder: AuditRecorder) {
        self.recorder = recorder
    }

    /// An item was released under a grant.
    func released(_ id: ItemID, in collection: Collection, under grant: ItemGrant) {
        recorder.record(event(.release, id, in: collection), caller: AuditedCaller(packed: grant.caller))
    }

    /// An item was asked for without a grant, or behind a locked screen.
    func denied(
        _ id: ItemID,
        in collection: Collection,
        to client: Client,
        _ outcome: AuditOutcome = .failed(.notInteractive)
    ) {
        recorder.record(event(.denial, id, in: collection, ring: .unattended, outcome), caller: client.name)
    }

    /// A person was asked for what an item needs, for the sake of an action.
    func authenticated(
        to action: ItemAction,
        _ id: ItemID,
        in collection: Collection,
        for caller: Caller,
        _ outcome: EvaluationOutcome
    ) {
        recorder.record(
            event(action.audited, id, in: collection, ring: outcome.ring, outcome.audited),
            caller: AuditedCaller(caller)
        )
    }

    /// A person was to be asked for a policy that is no item's, as by a context.
    func authenticated(_ policy: Policy, for caller: Caller, _ outcome: EvaluationOutcome) {
        recorder.record(
            AuditEvent(.authentication, in: outcome.ring, policy: policy.text, outcome: outcome.audited),
            caller: AuditedCaller(caller)
        )
    }

    /// Who may have an item was set or changed, by whom; the policy is the new one.
    ///
    /// - Parameter isAuthenticated: whether that took an authentication; what protects an item for the first time takes none.
    func accessControlChanged(
        _ id: ItemID,
        in collection: Collection,
        by client: Client,
        authenticated isAuthenticated: Bool
    ) {
        let ring = isAuthenticated ? AuditRing.attended : .unattended
        recorder.record(event(.accessControlChange, id, in: collection, ring: ring), caller: client.name)
    }

    /// A protected item was given another secret, label or other attributes, and is protected as it was.
    func changed(_ id: ItemID, in collection: Collection, by client: Client) {
        recorder.record(event(.change, id, in: collection), caller: client.name)
    }

    /// A protected item was deleted, or a collection with some.
    ///
    /// - Parameter policy: what the item asked for; empty for a collection.
    func deleted(_ path: ObjectPath, policy: String = "", by client: Client) {
        recorder.record(AuditEvent(.deletion, in: .attended, item: path, policy: policy), caller: client.name)
    }

    /// What is being counted and not written yet, the oldest first.
    var counted: [AuditEntry] { recorder.counted }

    /// Writes what is being counted, before the end.
    func finish() { recorder.finish() }

    private func event(
        _ kind: AuditEntry.Kind,
        _ id: ItemID,
        in collection: Collection,
        ring: AuditRing = .attended,
        _ outcome: AuditOutcome = .success
    ) -> AuditEvent {
        AuditEvent(
            kind,
            in: ring,
            item: .item(id, in: collection.name),
            policy: collection.policyText(of: id),
            outcome: outcome
        )
    }
}

extension Caller {
    /// The caller in the audit: who, and what that rests on.
    var auditText: String { AuditedCaller(self).packed }
}

extension EvaluationOutcome {
    /// Nobody satisfies a policy without a person; to fail takes none.
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
    /// The ways to satisfy it, in the words of access controls.
    fileprivate var text: String {
        alternatives.map { $0.factors.map(\.constraint.rawValue).joined(separator: " and ") }.joined(separator: " or ")
    }
}

extension Factor {
    /// The constraint that asks for just this.
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
    /// An item's access control as it is written; empty if it has none that can be read.
    func policyText(of id: ItemID) -> String {
        guard case .stated(let protection) = protection(of: id) else { return "" }
        return protection.accessControl?.description ?? ""
    }
}
