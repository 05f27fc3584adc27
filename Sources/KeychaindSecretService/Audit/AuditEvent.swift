package import KeychaindAuthentication
package import KeychaindDBus
package import KeychaindDesktop
package import KeychaindVault

/// An event to audit, without its time and caller.
package struct AuditEvent: Hashable, Sendable {
    /// The kind of event.
    package let kind: AuditEntry.Kind

    /// Whether the event takes a person; decides which entries it may displace.
    package let ring: AuditRing

    /// The path of the item or collection; never a label.
    package let item: ObjectPath?

    /// The required policy, as the access control is written.
    package let policy: String

    /// The outcome.
    package let outcome: AuditOutcome

    /// The rule that decided, if any.
    package let rule: String

    package init(
        _ kind: AuditEntry.Kind,
        in ring: AuditRing,
        item: ObjectPath? = nil,
        policy: String = "",
        outcome: AuditOutcome = .success,
        rule: String = ""
    ) {
        self.kind = kind
        self.ring = ring
        self.item = item
        self.policy = policy
        self.outcome = outcome
        self.rule = rule
    }

    /// The event without its item and policy.
    var withoutItem: AuditEvent { AuditEvent(kind, in: ring, outcome: outcome, rule: rule) }
}

/// Outcome of an audited event.
package enum AuditOutcome: Hashable, Sendable {
    /// The request succeeded.
    case success

    /// The request failed with one of Apple's codes.
    case failed(AuthenticationError.Code)

    /// A touch was needed, and the prompter is trusted with passwords only.
    case prompterNotTrusted

    /// The screen was locked.
    case sessionLocked

    /// A rule forbids it.
    case forbidden

    /// The D-Bus name of the outcome.
    package var name: String {
        switch self {
        case .success: "success"
        case .failed(let code): code.name
        case .prompterNotTrusted: "prompterNotTrusted"
        case .sessionLocked: "sessionLocked"
        case .forbidden: "forbidden"
        }
    }
}

/// A caller in the audit: a description, followed by the evidence in brackets.
package struct AuditedCaller: Hashable, Sendable {
    /// The description of the caller.
    package let text: String

    /// A ``CallerEvidence``, or a value written by another version.
    package let evidence: String

    package init(_ caller: Caller) {
        text = caller.description
        evidence = caller.evidence.rawValue
    }

    /// Parses ``packed``; the evidence comes last, so that a program name cannot imitate it.
    package init(packed: String) {
        guard packed.hasSuffix("]"), let bracket = packed.lastIndex(of: "["), bracket > packed.startIndex else {
            text = packed
            evidence = CallerEvidence.nothing.rawValue
            return
        }
        text = String(packed[..<packed.index(before: bracket)])
        evidence = String(packed[packed.index(after: bracket)...].dropLast())
    }

    /// Description and evidence in one text.
    package var packed: String { "\(text) [\(evidence)]" }
}
