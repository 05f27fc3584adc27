package import Desktop

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
