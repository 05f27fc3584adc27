package import DBus
package import Vault

/// Something to be written down, apart from when it was and by whom.
package struct AuditEvent: Hashable, Sendable {
    /// What happened.
    package let kind: AuditEntry.Kind

    /// Whether it takes a person, and so which entries it may push out.
    package let ring: AuditRing

    /// The path of the item, or of the collection; never a label.
    package let item: ObjectPath?

    /// What had to be proved, as the access control is written.
    package let policy: String

    /// What came of it.
    package let outcome: AuditOutcome

    /// Puts an event together.
    package init(
        _ kind: AuditEntry.Kind,
        in ring: AuditRing,
        item: ObjectPath? = nil,
        policy: String = "",
        outcome: AuditOutcome = .success
    ) {
        self.kind = kind
        self.ring = ring
        self.item = item
        self.policy = policy
        self.outcome = outcome
    }

    /// The same without what it was about.
    var withoutItem: AuditEvent { AuditEvent(kind, in: ring, outcome: outcome) }
}
