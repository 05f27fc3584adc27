/// A text for people, which is translated when it is shown.
///
/// ```swift
/// Text("\(program) wants to use “\(item)”.")
/// Text(count, one: "\(count) item is locked.", other: "\(count) items are locked.")
/// ```
///
/// `make pot` collects the sentences (docs/translating.md). The type has no conversion from a string, so that no text
/// for people is shown untranslated by mistake.
package struct Text: Hashable, Sendable {
    indirect enum Content: Hashable, Sendable {
        case verbatim(String)
        case sentence(Sentence)
        case joined([Text], separator: Text)
        /// At most so many bytes, with a sign of the cut.
        case cut(Text, bytes: Int)
        /// With a capital letter, where the script has them.
        case capitalized(Text)
    }

    /// A translatable sentence, or two for a number.
    struct Sentence: Hashable, Sendable {
        let context: String?
        let phrase: Phrase
        let plural: Plural?
    }

    struct Plural: Hashable, Sendable {
        let count: UInt64
        let phrase: Phrase
    }

    let content: Content

    private init(_ content: Content) {
        self.content = content
    }

    /// - Parameter context: tells apart words that are the same in English; translators see it.
    package init(_ phrase: Phrase, context: StaticString? = nil) {
        self.init(.sentence(Sentence(context: context.map { "\($0)" }, phrase: phrase, plural: nil)))
    }

    /// A sentence with a number.
    ///
    /// Both phrases have the same interpolations in the same order, or the one for 1 has none.
    package init(_ count: some BinaryInteger, one: Phrase, other: Phrase, context: StaticString? = nil) {
        let plural = Plural(count: UInt64(clamping: count), phrase: other)
        self.init(.sentence(Sentence(context: context.map { "\($0)" }, phrase: one, plural: plural)))
    }

    /// Something without a language: a name, a path, a number, the words of another program.
    package init(verbatim text: String) {
        self.init(.verbatim(text))
    }

    package static let empty = Text(verbatim: "")

    /// Parts that are translated apart, without the empty ones.
    package static func joined(_ parts: [Text], by separator: Text = Text(verbatim: " ")) -> Text {
        Text(.joined(parts.filter { !$0.isEmpty }, separator: separator))
    }

    /// Parts as lines, without the empty ones.
    package static func lines(_ parts: [Text]) -> Text {
        joined(parts, by: Text(verbatim: "\n"))
    }

    /// Parts with commas between them.
    package static func list(_ parts: [Text]) -> Text {
        joined(parts, by: Text(", ", context: "between the parts of a list"))
    }

    /// The beginning of the translated text, at most so many bytes as a prompter gets them.
    package func cut(bytes: Int) -> Text {
        Text(.cut(self, bytes: bytes))
    }

    /// The text at the beginning of a sentence.
    package var capitalized: Text {
        Text(.capitalized(self))
    }

    package var isEmpty: Bool {
        switch content {
        case .verbatim(let text): text.isEmpty
        case .sentence: false
        case .joined(let parts, _): parts.isEmpty
        case .cut(let text, _), .capitalized(let text): text.isEmpty
        }
    }

    /// The text as the source has it, for logs.
    package var english: String { Language.english.string(self) }
}

extension Text: CustomStringConvertible {
    /// The English text.
    package var description: String { english }
}

/// The wording of a text: literals, with numbered places for what is interpolated.
package struct Phrase: Hashable, Sendable {
    enum Argument: Hashable, Sendable {
        /// A name or another text that may be written in the other direction.
        case name(String)
        case number(String)
        case text(Text)
    }

    /// The literals; an argument follows each but the last.
    fileprivate(set) var literals: [String]
    fileprivate(set) var arguments: [Argument]

    fileprivate init(_ text: String) {
        literals = [text]
        arguments = []
    }

    /// The key in catalogues, with `%1$@` for the first argument and `%%` for a percent sign.
    ///
    /// A phrase without arguments is its own key.
    var key: String {
        guard !arguments.isEmpty else { return literals[0] }
        var key = ""
        for (index, literal) in literals.enumerated() {
            if index > 0 { key += "%\(index)$@" }
            for character in literal { key += character == "%" ? "%%" : String(character) }
        }
        return key
    }
}

extension Phrase: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) {
        self.init(text)
    }

    package init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.phrase
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var phrase = Phrase("")

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ text: String) {
            phrase.literals[phrase.literals.count - 1] += text
        }

        package mutating func appendInterpolation(_ text: Text) {
            append(.text(text))
        }

        package mutating func appendInterpolation(_ number: some BinaryInteger) {
            append(.number("\(number)"))
        }

        /// The caller has escaped or cleaned the name for where it is shown.
        package mutating func appendInterpolation(_ name: some StringProtocol) {
            append(.name(String(name)))
        }

        private mutating func append(_ argument: Argument) {
            phrase.arguments.append(argument)
            phrase.literals.append("")
        }
    }
}
