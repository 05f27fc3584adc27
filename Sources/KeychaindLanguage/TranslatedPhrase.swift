/// A translation that fits its source: it has the same places, and no character that acts on a terminal or a dialog.
struct TranslatedPhrase {
    private enum Part {
        case literal(String)
        case argument(Int)
    }

    private let parts: [Part]

    /// Nil if the translation does not fit.
    ///
    /// - Parameter isPlural: whether a form may leave out numbers, as in “one item”.
    init?(_ bytes: [UInt8], for source: Phrase, isPlural: Bool) {
        guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self),
            text.unicodeScalars.allSatisfy(Self.isHarmless)
        else { return nil }
        guard !source.arguments.isEmpty else {
            parts = [.literal(text)]
            return
        }
        guard let parts = Self.parse(text) else { return nil }
        var places = [Int](repeating: 0, count: source.arguments.count)
        for case .argument(let index) in parts {
            guard places.indices.contains(index) else { return nil }
            places[index] += 1
        }
        for (argument, count) in zip(source.arguments, places) where count != 1 {
            guard count == 0, isPlural, case .number = argument else { return nil }
        }
        self.parts = parts
    }

    func string(_ arguments: [String]) -> String {
        var result = ""
        for part in parts {
            switch part {
            case .literal(let text): result += text
            case .argument(let index): result += arguments[index]
            }
        }
        return result
    }

    /// The literals and the places `%N$@`; nil for any other use of a percent sign.
    private static func parse(_ text: String) -> [Part]? {
        var parts: [Part] = []
        var literal = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "%" else {
                literal.unicodeScalars.append(scalar)
                continue
            }
            guard let next = rest.popFirst() else { return nil }
            if next == "%" {
                literal.unicodeScalars.append(next)
                continue
            }
            guard ("1"..."9").contains(next), rest.popFirst() == "$", rest.popFirst() == "@" else { return nil }
            parts += [.literal(literal), .argument(Int(next.value - 0x31))]
            literal = ""
        }
        parts.append(.literal(literal))
        return parts
    }

    /// Whether a character is only shown; the joiners belong to some scripts.
    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value >= 0x20 || scalar == "\n" }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: return false
        case .format: return scalar == "\u{200C}" || scalar == "\u{200D}"
        default: return true
        }
    }
}
