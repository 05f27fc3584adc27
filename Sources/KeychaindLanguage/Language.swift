/// A language that texts are shown in.
package struct Language: Hashable, Sendable {
    /// The name of the catalogue, such as `de` or `pt_BR`; `en` for the language of the source.
    package let name: String

    private let catalogue: Catalogue?

    /// The language of the source, without a catalogue.
    package static let english = Language()

    private init() {
        name = "en"
        catalogue = nil
    }

    package init(_ name: String, _ catalogue: Catalogue) {
        self.name = name
        self.catalogue = catalogue
    }

    package static func == (first: Language, second: Language) -> Bool { first.name == second.name }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }

    /// Whether it is written from right to left.
    package var isRightToLeft: Bool {
        let scripts: Set<Substring> = ["ar", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "ug", "ur", "yi"]
        return scripts.contains(name.prefix { $0 != "_" && $0 != "@" })
    }

    /// The text in this language, or in English where the catalogue has no fitting translation.
    ///
    /// - Parameter isolating: whether names are set apart from text of the other direction, by U+2068 and U+2069, in a
    ///   language from right to left. A dialog needs it; many a terminal shows the characters.
    package func string(_ text: Text, isolating: Bool = false) -> String {
        Rendering(language: self, isolates: isolating && isRightToLeft).string(text)
    }

    fileprivate func translation(of sentence: Text.Sentence) -> [UInt8]? {
        guard let catalogue else { return nil }
        return catalogue.translation(
            of: sentence.phrase.key,
            plural: sentence.plural?.phrase.key,
            context: sentence.context,
            count: sentence.plural?.count
        )
    }
}

/// Puts the arguments into the places of a phrase or of its translation.
private struct Rendering {
    let language: Language
    let isolates: Bool

    func string(_ text: Text) -> String {
        switch text.content {
        case .verbatim(let text): Self.withoutIsolates(text)
        case .sentence(let sentence): string(sentence)
        case .joined(let parts, let separator):
            parts.map(string).filter { !$0.isEmpty }.joined(separator: string(separator))
        case .cut(let text, let bytes): Self.prefix(of: string(text), bytes: bytes)
        case .capitalized(let text): Self.capitalized(string(text))
        }
    }

    private func string(_ sentence: Text.Sentence) -> String {
        // A form for 1 may have the number, as where it also serves 21.
        let fullest = sentence.plural?.phrase ?? sentence.phrase
        if let translation = language.translation(of: sentence),
            let translated = TranslatedPhrase(translation, for: fullest, isPlural: sentence.plural != nil)
        {
            return translated.string(fullest.arguments.map(string))
        }
        let source = sentence.plural?.count == 1 ? sentence.phrase : fullest
        var result = source.literals[0]
        for (argument, literal) in zip(source.arguments, source.literals.dropFirst()) {
            result += string(argument) + literal
        }
        return result
    }

    private func string(_ argument: Phrase.Argument) -> String {
        switch argument {
        case .number(let digits): digits
        case .name(let name): isolated(Self.withoutIsolates(name))
        case .text(let text): isIsolated(text) ? isolated(string(text)) : string(text)
        }
    }

    /// Whether the text is a name and not a part of the sentence.
    private func isIsolated(_ text: Text) -> Bool {
        switch text.content {
        case .verbatim: true
        case .cut(let text, _), .capitalized(let text): isIsolated(text)
        case .sentence, .joined: false
        }
    }

    private func isolated(_ name: String) -> String {
        isolates ? "\u{2068}\(name)\u{2069}" : name
    }

    /// Only the rendering sets these characters, so that they come in pairs.
    private static func withoutIsolates(_ text: String) -> String {
        guard text.utf8.contains(0xE2) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            result.append((0x2066...0x2069).contains(scalar.value) ? " " : scalar)
        }
        return String(result)
    }

    private static func capitalized(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }

    private static func prefix(of text: String, bytes limit: Int) -> String {
        guard text.shownBytes > limit else { return text }
        var prefix = String.UnicodeScalarView()
        var count = UTF8.width("…")
        var depth = 0
        for scalar in text.unicodeScalars {
            count += scalar.shownBytes
            guard count <= limit else { break }
            if scalar == "\u{2068}" { depth += 1 } else if scalar == "\u{2069}" { depth -= 1 }
            prefix.append(scalar)
        }
        prefix.append("…")
        return String(prefix) + String(repeating: "\u{2069}", count: max(0, depth))
    }
}
