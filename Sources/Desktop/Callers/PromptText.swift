/// Makes text fit to be shown in a dialog, whoever it is from.
///
/// Labels come from any program of the user. In a dialog that asks for a password they must not look like a part of it:
/// a label with newlines, or with characters that turn the direction of writing, could tell another story than the
/// daemon does.
package enum PromptText {
    /// How many characters a text of the daemon's may have in all; what is longer is cut.
    package static let textLimit = 2000

    /// How many characters a name within a text may have.
    package static let nameLimit = 100

    /// How many marks a character may carry: stacks of them would reach into the lines above and below.
    ///
    /// No script needs more (Unicode Technical Standard #39, section 5.4).
    private static let markLimit = 4

    /// A name that another program has given, to be put into a text, in quotation marks: on one line, and not too long.
    package static func name(_ text: String) -> String {
        name(text, limit: nameLimit)
    }

    /// The same with a limit of its own.
    ///
    /// What could be taken for the quotation mark behind it becomes a single one, so that the words do not end before
    /// it.
    package static func name(_ text: String, limit: Int) -> String {
        var name = String.UnicodeScalarView()
        for scalar in line(text, limit: limit).unicodeScalars {
            name.append(openingMarks.contains(scalar) ? "‘" : closingMarks.contains(scalar) ? "’" : scalar)
        }
        return String(name)
    }

    /// A text on one line.
    package static func line(_ text: String, limit: Int = nameLimit) -> String {
        clean(text, limit: limit) { isPlain($0) && $0 != "\n" }
    }

    /// A whole text; it may have several lines.
    package static func text(_ text: String) -> String {
        clean(text, limit: textLimit, keeping: isPlain)
    }

    /// A text for a prompter that may take it for HTML, as labels of Qt do with what looks like it.
    package static func withoutTags(_ text: String) -> String {
        String(text.map { $0 == "<" ? "‹" : $0 })
    }

    /// As much of a text as fits into so many bytes, whole characters only, and a sign that there was more.
    package static func prefix(of text: String, bytes limit: Int) -> String {
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
        var marks = 0
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index == limit {
                cleaned.append("…")
                break
            }
            marks = isMark(scalar) ? marks + 1 : 0
            if marks <= markLimit { cleaned.append(mayStay(scalar) ? scalar : " ") }
        }
        return String(cleaned)
    }

    private static let openingMarks: Set<Unicode.Scalar> = ["“", "„", "‟", "‶", "〝", "❝", "⹂", "🙶"]
    private static let closingMarks: Set<Unicode.Scalar> = [
        "\"", "”", "″", "‴", "ˮ", "״", "＂", "〞", "〟", "❞", "🙷", "🙸",
    ]

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar == "\n"
        // What turns the direction of writing is among the format characters; so are the joiners that some scripts and
        // emoji need.
        case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
        case .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: true
        }
    }
}

/// Makes what a process says about itself fit to be shown.
enum CallerText {
    /// A path on one line; of a long one the middle is left out, for the end says most.
    static func path(_ text: String) -> String {
        let scalars = text.unicodeScalars
        let limit = PromptText.nameLimit
        guard scalars.count > limit else { return PromptText.name(text) }
        let start = String(scalars.prefix(limit / 4))
        let end = String(scalars.suffix(limit - limit / 4 - 1))
        return PromptText.name(start) + "…" + PromptText.name(end)
    }
}
