import KeychaindModel

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
            guard !RuleQuotation.needsEscape(scalar) else { throw .controlCharacter }
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
}
