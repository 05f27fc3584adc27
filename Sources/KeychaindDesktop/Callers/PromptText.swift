import KeychaindLanguage

/// Makes any text safe to show in a dialog.
///
/// Labels come from any program of the user. Newlines, or characters that change the direction of writing, could make a
/// label look like a part of the password dialog.
package enum PromptText {
    /// The maximum length of a whole text, in characters.
    package static let textLimit = 2000

    /// The maximum length of a name within a text, in characters.
    package static let nameLimit = 100

    /// The maximum number of marks on a character; stacks of them would reach into other lines.
    ///
    /// No script needs more (Unicode Technical Standard #39, section 5.4).
    private static let markLimit = 4

    /// A name from another program: quoted, on one line, and cut.
    package static func name(_ text: String) -> String {
        name(text, limit: nameLimit)
    }

    /// A name with its own limit.
    ///
    /// Characters that look like the closing quotation mark become single ones. Of several single ones in a row, the
    /// first stays, as two look like the closing one. So the name cannot end early.
    package static func name(_ text: String, limit: Int) -> String {
        var name = String.UnicodeScalarView()
        var isAfterMark = false
        for scalar in clean(text, limit: limit, keeping: { isPlain($0) && $0 != "\n" }).unicodeScalars {
            let shown: Unicode.Scalar =
                openingMarks.contains(scalar) ? "‘" : closingMarks.contains(scalar) ? "’" : scalar
            let isMark = singleMarks.contains(shown)
            if !(isMark && isAfterMark) { name.append(shown) }
            // Joiners and variation selectors are not seen between two marks.
            if !shown.properties.isDefaultIgnorableCodePoint { isAfterMark = isMark }
        }
        return String(name)
    }

    /// A whole text on one line.
    package static func line(_ text: String, limit: Int = nameLimit) -> String {
        clean(text, limit: limit) { (isPlain($0) || isIsolate($0)) && $0 != "\n" }
    }

    /// A whole text; may have several lines.
    package static func text(_ text: String) -> String {
        clean(text, limit: textLimit) { isPlain($0) || isIsolate($0) }
    }

    /// A text for a terminal, which may show the characters that set apart names in text of the other direction.
    package static func withoutIsolates(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !isIsolate(scalar) { result.append(scalar) }
        return String(result)
    }

    /// A text for a prompter that may take it for HTML, as Qt's labels do.
    ///
    /// Looks at scalars: some letters make one character with the sign after them.
    package static func withoutTags(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(scalar == "<" ? "‹" : scalar) }
        return String(result)
    }

    /// A text for a desktop that may take it for markup, where `&#10;` is a newline.
    package static func withoutMarkup(_ text: String) -> String {
        let scalars = withoutTags(text).unicodeScalars
        var result = String.UnicodeScalarView()
        for index in scalars.indices {
            let isReference = scalars[index] == "&" && isReferenceName(scalars[scalars.index(after: index)...])
            result.append(isReference ? "＆" : scalars[index])
        }
        return String(result)
    }

    /// Whether a text goes on as a reference to a character does after `&`.
    private static func isReferenceName(_ text: Substring.UnicodeScalarView) -> Bool {
        let rest = text.drop { $0 == "#" || $0.properties.isAlphabetic || ("0"..."9").contains($0) }
        return rest.first == ";"
    }

    /// The longest prefix of whole characters within a number of bytes as a prompter gets them, with a sign of the cut.
    package static func prefix(of text: String, bytes limit: Int) -> String {
        guard text.shownBytes > limit else { return text }
        let ellipsis: Unicode.Scalar = "…"
        var prefix = String.UnicodeScalarView()
        var count = UTF8.width(ellipsis)
        for scalar in text.unicodeScalars {
            count += scalar.shownBytes
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

    private static let openingMarks: Set<Unicode.Scalar> = ["“", "„", "«", "‟", "‶", "‷", "〝", "❝", "⹂", "🙶"]
    /// With those of Unicode Technical Standard #39 that look like them.
    private static let closingMarks: Set<Unicode.Scalar> = [
        "\"", "”", "»", "″", "‴", "⁗", "ˮ", "ʺ", "˝", "˶", "״", "＂", "〃", "〞", "〟", "❞", "🙷", "🙸",
    ]
    private static let singleMarks: Set<Unicode.Scalar> = [
        "'", "’", "‘", "‛", "′", "‵", "`", "´", "ʹ", "ʻ", "ʼ", "ʽ", "ʾ", "ˈ", "ˊ", "ˋ", "＇", "｀", "❛", "❜", "՚", "׳",
        "ꞌ",
    ]

    private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\u{200C}" || scalar == "\u{200D}"
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Whether a language from right to left sets apart names with it; no name keeps it.
    private static func isIsolate(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\u{2068}" || scalar == "\u{2069}"
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar == "\n"
        // Format characters change the direction of writing, but some scripts and emoji need the joiners.
        case .format: isJoiner(scalar)
        case .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: true
        }
    }
}

/// Shortens texts about a caller for dialogs.
enum CallerText {
    /// A path on one line, cut in the middle, as the end says most.
    static func path(_ text: String) -> String {
        let scalars = text.unicodeScalars
        let limit = PromptText.nameLimit
        guard scalars.count > limit else { return PromptText.name(text) }
        let start = String(scalars.prefix(limit / 4))
        let end = String(scalars.suffix(limit - limit / 4 - 1))
        return PromptText.name(start) + "…" + PromptText.name(end)
    }
}
