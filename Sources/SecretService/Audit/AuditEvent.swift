package import Authentication
package import DBus
package import Desktop
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

/// What came of something that is written down.
package enum AuditOutcome: Hashable, Sendable {
    /// What was asked for.
    case success

    /// Nothing, for a reason that Apple has a name for.
    case failed(AuthenticationError.Code)

    /// Nothing, as a touch was needed and the prompter is trusted with passwords only.
    case prompterNotTrusted

    /// Nothing, as the screen is locked.
    case sessionLocked

    /// The outcome's name on the bus.
    package var name: String {
        switch self {
        case .success: "success"
        case .failed(let code): code.name
        case .prompterNotTrusted: "prompterNotTrusted"
        case .sessionLocked: "sessionLocked"
        }
    }
}

/// A caller as the audit keeps it: a text, with the evidence in brackets behind it.
package struct AuditedCaller: Hashable, Sendable {
    /// The caller in words.
    package let text: String

    /// What the text rests on: one of ``CallerEvidence``, or what another version has written.
    package let evidence: String

    /// Takes down a caller.
    package init(_ caller: Caller) {
        text = caller.description
        evidence = caller.evidence.rawValue
    }

    /// Reads what ``packed`` has made; what a program has made of its own name cannot pass for the evidence, which comes last.
    package init(packed: String) {
        guard packed.hasSuffix("]"), let bracket = packed.lastIndex(of: "["), bracket > packed.startIndex else {
            text = packed
            evidence = CallerEvidence.nothing.rawValue
            return
        }
        text = String(packed[..<packed.index(before: bracket)])
        evidence = String(packed[packed.index(after: bracket)...].dropLast())
    }

    /// One text.
    package var packed: String { "\(text) [\(evidence)]" }
}
