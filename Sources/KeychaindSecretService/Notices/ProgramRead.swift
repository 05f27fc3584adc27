package import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage

/// A read that a rule reports to the person.
package struct ProgramRead: Hashable, Sendable {
    /// The identity of the program, such as `flatpak:com.usebottles.bottles`; empty if nothing identifies it.
    package let identity: String

    /// The program, as the audit has it.
    package let caller: String

    package let item: ObjectPath

    /// The text of the rule.
    package let rule: String

    package init(identity: String, caller: String, item: ObjectPath, rule: String) {
        self.identity = identity
        self.caller = caller
        self.item = item
        self.rule = rule
    }

    /// The answer of a person.
    package enum Answer: Hashable, Sendable {
        /// The program may read what the rule is about.
        case fine

        /// A person is asked, once a session.
        case ask
    }

    var name: ProgramName { ProgramName(identity: identity, caller: AuditedCaller(packed: caller)) }

    /// The program and the evidence for it.
    var details: Text {
        let caller = AuditedCaller(packed: caller)
        guard let evidence = CallerEvidence(rawValue: caller.evidence) else { return Text(verbatim: "\(caller.text).") }
        return .joined([Text("Details:"), Text("\(Text(verbatim: caller.text)), \(evidence.explanation).")])
    }
}

extension ProgramName {
    /// The name of a program by its identity in rules.
    init(identity: String, caller: AuditedCaller? = nil) {
        let parts = identity.split(separator: ":", maxSplits: 1)
        let name = parts.count == 2 ? String(parts[1]) : ""
        switch (parts.first ?? "", caller?.evidence) {
        case (_, _) where name.isEmpty: self = .unknown
        case ("flatpak", _), ("snap", _), ("label", _), ("unit", _): self = .application(name)
        case ("script", _): self = .script(name)
        case ("program", CallerEvidence.systemProgram.rawValue):
            self = .installed(name.split(separator: "/").last.map(String.init) ?? name)
        default: self = .file(name)
        }
    }
}
