/// A word of a rule: characters, some of them in quotation marks.
struct RuleWord: Hashable {
    /// The characters, without quotation marks and escapes.
    private(set) var text = ""

    /// The position of the first `=` outside of quotation marks, in scalars.
    private(set) var separator: Int?

    /// Whether any part was in quotation marks, so that it is no keyword.
    private(set) var isQuoted = false

    private init() {}

    /// Splits a text at spaces.
    static func split(_ text: String) throws(RuleError) -> [RuleWord] {
        var words: [RuleWord] = []
        var scalars = text.unicodeScalars[...]
        while let first = scalars.first {
            if first == " " {
                scalars.removeFirst()
                continue
            }
            var word = RuleWord()
            try word.take(&scalars)
            words.append(word)
        }
        return words
    }

    /// The part before the separator, and the part after it; nil without one.
    var pair: (name: String, value: String)? {
        guard let separator else { return nil }
        let scalars = text.unicodeScalars
        let place = scalars.index(scalars.startIndex, offsetBy: separator)
        return (String(scalars[..<place]), String(scalars[scalars.index(after: place)...]))
    }

    func isKeyword(_ keyword: String) -> Bool { !isQuoted && text == keyword }

    private mutating func take(_ scalars: inout String.UnicodeScalarView.SubSequence) throws(RuleError) {
        var isInside = false
        var count = 0
        while let scalar = scalars.first {
            if scalar == " ", !isInside { return }
            scalars.removeFirst()
            guard !RuleWord.needsEscape(scalar) else { throw .controlCharacter }
            switch scalar {
            case "\"":
                isInside.toggle()
                isQuoted = true
                continue
            case "\\":
                guard isInside else { throw .unknownEscape }
                text.unicodeScalars.append(try RuleWord.escaped(&scalars))
            case "=" where !isInside && separator == nil:
                separator = count
                text.unicodeScalars.append(scalar)
            default:
                text.unicodeScalars.append(scalar)
            }
            count += 1
        }
        if isInside { throw .unfinishedQuote }
    }

    private static func escaped(
        _ scalars: inout String.UnicodeScalarView.SubSequence
    ) throws(RuleError) -> Unicode.Scalar {
        switch scalars.popFirst() {
        case "\\": return "\\"
        case "\"": return "\""
        case "n": return "\n"
        case "t": return "\t"
        case "u":
            guard scalars.popFirst() == "{" else { throw .unknownEscape }
            var digits = ""
            while let digit = scalars.popFirst(), digit != "}" {
                digits.unicodeScalars.append(digit)
                guard digits.utf8.count <= 6 else { throw .unknownEscape }
            }
            // No program and no attribute has a null character.
            guard digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: 16), value != 0,
                let scalar = Unicode.Scalar(value)
            else { throw .unknownEscape }
            return scalar
        default: throw .unknownEscape
        }
    }

    // MARK: Writing

    /// Writes a text as a word, or as a part of one: in quotation marks unless it is plain.
    static func quote(_ text: String) -> String {
        if !text.isEmpty, text.unicodeScalars.allSatisfy(isPlain) { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": quoted += "\\\\"
            case "\"": quoted += "\\\""
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case _ where needsEscape(scalar): quoted += "\\u{\(String(scalar.value, radix: 16))}"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// Whether a character is invisible, or changes how others are shown.
    static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
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
