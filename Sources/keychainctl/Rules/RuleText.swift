import KeychaindCommandLine
import KeychaindModel

/// Parts of a rule's text.
enum RuleText {
    /// What a person typed as `NAME=VALUE`, which the shell has freed of its quotation marks.
    static func condition(_ typed: String) -> String {
        guard let sign = typed.firstIndex(of: "=") else { return typed }
        let (name, value) = (String(typed[..<sign]), String(typed[typed.index(after: sign)...]))
        return "\(RuleQuotation.quote(name))=\(RuleQuotation.quote(value))"
    }
}

extension String {
    /// A rule as it can be copied: its own escapes stay single, and nothing acts on a terminal.
    var shownRule: String {
        unicodeScalars.contains(where: RuleQuotation.needsEscape) ? visible : self
    }
}
