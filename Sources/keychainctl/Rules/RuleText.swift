import KeychaindCommandLine

/// Parts of a rule's text.
enum RuleText {
    /// A text as a word of a rule, or as a part of one: in quotation marks unless it is plain.
    static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.unicodeScalars.allSatisfy(isPlain) { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", "\"": quoted += "\\\(scalar)"
            case _ where needsEscape(scalar): quoted += "\\u{\(String(scalar.value, radix: 16))}"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// What a person typed as `NAME=VALUE`, which the shell has freed of its quotation marks.
    static func condition(_ typed: String) -> String {
        guard let sign = typed.firstIndex(of: "=") else { return typed }
        return "\(quoted(String(typed[..<sign])))=\(quoted(String(typed[typed.index(after: sign)...])))"
    }

    fileprivate static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: true
        case .spaceSeparator: scalar != " "
        default: scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case " ", "\"", "\\", "=", "*", "#": false
        default: !needsEscape(scalar)
        }
    }
}

extension String {
    /// A rule as it can be copied: its own escapes stay single, and nothing acts on a terminal.
    var shownRule: String {
        unicodeScalars.contains(where: RuleText.needsEscape) ? visible : self
    }
}
