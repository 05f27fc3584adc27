/// A program of the audit, as rules name it.
package struct AuditedProgram: Hashable, Sendable {
    /// What the evidence for its name withstands.
    package enum Strength: String, Hashable, Sendable {
        case proven
        case likely
        case said
    }

    /// The kind in a rule, such as `program`.
    package let kind: String
    package let name: String
    package let strength: Strength

    /// Reads the description and the evidence of an entry; nil if no rule in favour of the program would count.
    ///
    /// That takes more evidence than there was for a Snap by its control group, and for an interpreter by itself.
    package init?(_ record: AuditRecord) {
        guard let (kind, name, strength) = Self.parts(record.caller, record.evidence) else { return nil }
        // A long path is cut in the middle, so that it could be any.
        guard !name.isEmpty, !name.contains("…") else { return nil }
        self.kind = kind
        self.name = name
        self.strength = strength
    }

    private static func parts(_ caller: String, _ evidence: String) -> (String, String, Strength)? {
        switch evidence {
        case "sandbox-file":
            rest(of: caller, after: "Flatpak ").map { ("flatpak", $0, .proven) }
        case "security-label":
            rest(of: caller, after: "Snap ").map { ("snap", $0, .proven) }
                ?? rest(of: caller, after: "AppArmor profile ").map { ("label", $0, .proven) }
        case "system-program": path(in: caller).map { ("program", $0, .likely) }
        case "own-program": path(in: caller).map { ("program", $0, .said) }
        case "interpreter":
            script(in: caller).map { ("script", $0, .said) }
        case "unit":
            rest(of: caller, after: "a program in “").flatMap(quoted).map { ("unit", $0, .said) }
        default: nil
        }
    }

    private static func rest(of text: String, after prefix: String) -> String? {
        text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil
    }

    /// The path of a program file that is as it was, followed by the process.
    private static func path(in caller: String) -> String? {
        guard let start = rest(of: caller, after: "“"), let path = quoted(start),
            start.dropFirst(path.count).hasPrefix("” (process ")
        else { return nil }
        return path.hasPrefix("/") ? path : nil
    }

    private static func script(in caller: String) -> String? {
        let claim = "), which says that it runs “"
        guard caller.hasSuffix("”") else { return nil }
        var rest = caller[...]
        while !rest.isEmpty {
            if rest.hasPrefix(claim) { return String(rest.dropFirst(claim.count).dropLast()) }
            rest.removeFirst()
        }
        return nil
    }

    /// The beginning of a text up to a closing quotation mark; no name has one.
    private static func quoted(_ text: String) -> String? {
        text.firstIndex(of: "”").map { String(text[..<$0]) }
    }

    /// The identity, with any characters.
    package var identity: String { "\(kind):\(name)" }
}
