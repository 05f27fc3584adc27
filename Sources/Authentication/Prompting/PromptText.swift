/// Makes text fit to be shown in a dialog, whoever it is from.
///
/// Labels come from any program of the user. In a dialog that asks for a password they must not look like a part of it: a label
/// with newlines, or with characters that turn the direction of writing, could tell another story than the daemon does.
package enum PromptText {
    /// How many characters a text of the daemon's may have in all; what is longer is cut.
    package static let textLimit = 2000

    /// How many characters a name within a text may have.
    package static let nameLimit = 100

    /// A name that another program has given, to be put into a text: on one line, and not too long.
    package static func name(_ text: String) -> String {
        name(text, limit: nameLimit)
    }

    /// The same with a limit of its own.
    package static func name(_ text: String, limit: Int) -> String {
        clean(text, limit: limit) { isPlain($0) && $0 != "\n" }
    }

    /// A whole text; it may have several lines.
    static func text(_ text: String) -> String {
        clean(text, limit: textLimit, keeping: isPlain)
    }

    /// A text for a prompter that may take it for HTML, as labels of Qt do with what looks like it.
    static func withoutTags(_ text: String) -> String {
        String(text.map { $0 == "<" ? "‹" : $0 })
    }

    /// As much of a text as fits into so many bytes, whole characters only, and a sign that there was more.
    static func prefix(of text: String, bytes limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let ellipsis: Unicode.Scalar = "…"
        var prefix = String.UnicodeScalarView()
        var count = UTF8.width(ellipsis)
        for scalar in text.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= limit else { break }
            prefix.append(scalar)
        }
        prefix.append(ellipsis)
        return String(prefix)
    }

    private static func clean(_ text: String, limit: Int, keeping mayStay: (Unicode.Scalar) -> Bool) -> String {
        var cleaned = String.UnicodeScalarView()
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index == limit {
                cleaned.append("…")
                break
            }
            cleaned.append(mayStay(scalar) ? scalar : " ")
        }
        return String(cleaned)
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar == "\n"
        // What turns the direction of writing is among the format characters; so are the joiners that some scripts and emoji need.
        case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
        case .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: true
        }
    }
}
