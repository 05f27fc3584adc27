import KeychaindModel

/// The reason why a text is no rule.
package enum RuleError: Error, Hashable, Sendable {
    case tooLong
    case controlCharacter
    case unfinishedQuote
    case unknownEscape
    case unknownAction(String)
    case missingProgram
    case unknownProgram(String)
    case missingItem
    case unknownItem(String)
    case wildcardAmongOthers
    case repeated(String)
    case unknownTime(String)
    case trailing(String)

    /// The reason in English, quoting at most the beginning of the text.
    package var reason: String {
        switch self {
        case .tooLong: "a rule has at most \(Rule.longest) bytes"
        case .controlCharacter: "control characters must be written as \\u{…} in quotation marks"
        case .unfinishedQuote: "a quotation mark is missing"
        case .unknownEscape: "after a backslash come \\, \", n, t or u{HEX}"
        case .unknownAction(let text): "'\(Self.cut(text))' is no action: \(Self.actions)"
        case .missingProgram: "the program is missing, such as any or program:/usr/bin/git"
        case .unknownProgram(let text):
            """
            '\(Self.cut(text))' is no program: any, flatpak:ID, snap:NAME, label:LABEL, program:PATH, script:PATH, \
            unit:NAME
            """
        case .missingItem: "what the rule is about is missing, such as * or service=bank"
        case .unknownItem(let text): "'\(Self.cut(text))' is neither *, nor item=PATH, collection=NAME or NAME=VALUE"
        case .wildcardAmongOthers: "* says everything, so nothing may stand beside it"
        case .repeated(let text): "'\(Self.cut(text))' is there twice"
        case .unknownTime(let text): "'\(Self.cut(text))' is no time such as 2026-12-01T00:00:00Z or 2026-12-01"
        case .trailing(let text): "'\(Self.cut(text))' comes after the end of the rule"
        }
    }

    private static var actions: String { RuleAction.allCases.map(\.rawValue).joined(separator: ", ") }

    private static func cut(_ text: String) -> String {
        let text = RuleQuotation.quote(text)
        return text.count > 60 ? "\(text.prefix(60))…" : text
    }
}
