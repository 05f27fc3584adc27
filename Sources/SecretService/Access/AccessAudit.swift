import Authentication
import DBus
import KeychainModel
import Vault

/// Writes down who got a protected item, who did not, who was asked, and who changed its protection: without secrets, and without
/// labels.
///
/// Nothing waits for it.
@BusActor
final class AccessAudit {
    private let recorder: AuditRecorder
    /// Whose denials are written already: a program that tries again and again would else push everything out.
    private var denied: [String: Set<ItemReference>] = [:]

    private static let denialsPerCaller = 100

    init(recorder: AuditRecorder) {
        self.recorder = recorder
    }

    /// An item was released under a grant.
    func released(_ id: ItemID, in collection: Collection, under grant: ItemGrant) {
        recorder.record(
            .release,
            caller: AuditedCaller(packed: grant.caller),
            item: .item(id, in: collection.name),
            policy: collection.policyText(of: id)
        )
    }

    /// An item was asked for without a grant; written once for a caller and an item.
    func denied(_ id: ItemID, in collection: Collection, to caller: String) {
        let item = ItemReference(id, in: collection)
        guard denied[caller, default: []].count < AccessAudit.denialsPerCaller,
            denied[caller, default: []].insert(item).inserted
        else { return }
        recorder.record(
            .denial,
            caller: caller,
            item: .item(id, in: collection.name),
            policy: collection.policyText(of: id),
            error: .notInteractive
        )
    }

    /// A person was asked for what an item needs.
    func authenticated(_ id: ItemID, in collection: Collection, for caller: Caller, _ outcome: EvaluationOutcome) {
        recorder.record(
            .authentication,
            caller: AuditedCaller(caller),
            item: .item(id, in: collection.name),
            policy: collection.policyText(of: id),
            error: outcome.error
        )
    }

    /// A person was asked for a policy that is no item's, as by a context.
    func authenticated(_ policy: Policy, for caller: Caller, _ outcome: EvaluationOutcome) {
        recorder.record(
            .authentication,
            caller: AuditedCaller(caller),
            policy: policy.text,
            error: outcome.error
        )
    }

    /// Who may have an item was set or changed, by whom; the policy is the new one.
    func accessControlChanged(_ id: ItemID, in collection: Collection, by caller: String) {
        recorder.record(
            .accessControlChange,
            caller: caller,
            item: .item(id, in: collection.name),
            policy: collection.policyText(of: id)
        )
    }

    /// Forgets a caller that has left the bus.
    func forget(_ caller: String) {
        denied[caller] = nil
    }
}

extension Caller {
    /// The caller in the audit: who, and what that rests on.
    var auditText: String { AuditedCaller(self).packed }
}

extension EvaluationOutcome {
    /// Why it came to nothing, if it did.
    fileprivate var error: AuthenticationError.Code? {
        if case .failed(let error) = self { error.code } else { nil }
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
    fileprivate func policyText(of id: ItemID) -> String {
        guard case .stated(let protection) = protection(of: id) else { return "" }
        return protection.accessControl?.description ?? ""
    }
}
