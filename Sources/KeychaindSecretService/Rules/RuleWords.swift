import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindRules

/// Rules in plain words.
extension Rule {
    /// The rule as a sentence, with what it can rely on.
    var sentence: Text {
        let programs = programs.words
        let items = items.words
        let what =
            switch action {
            // Translators: programs, then items
            case .allow: Text("\(programs) may use \(items) without being asked about it.")
            case .notify: Text("\(programs) may use \(items), and you are told.")
            case .askOnce: Text("\(programs) may use \(items) after you were asked once, until the screen is locked.")
            case .askAlways: Text("\(programs) may use \(items) each time that you allow it.")
            case .never: Text("\(programs) may never use \(items).")
            case .hide: Text("Invisible to \(programs): \(items).")
            }
        let until = end.map { Text("Until \(RuleTime.text(of: $0)).") } ?? .empty
        return .joined([what.capitalized, until, self.programs.strength?.words ?? .empty])
    }
}

extension RulePrograms {
    /// Bytes of the name of a program, alone and among others, so that a dialog shows what the rule does with it.
    private static let bytesAlone = 160
    private static let bytesAmongOthers = 64

    var words: Text {
        let bytes = helper == nil && place == nil ? Self.bytesAlone : Self.bytesAmongOthers
        var words = program.words(bytes: bytes)
        // Translators: programs, such as "git" and "secret-tool"
        if let helper { words = Text("\(words), through \(helper.words(bytes: bytes))") }
        // Translators: programs, such as "git" and "a terminal"
        if let place { words = Text("\(words), in \(place.words(bytes: bytes))") }
        return words
    }
}

extension RulePrograms.Pattern {
    fileprivate func words(bytes: Int) -> Text {
        guard case .identity(let identity) = self else { return Text("every program") }
        let name = PromptText.prefix(of: PromptText.name(identity.name, limit: 200), bytes: bytes)
        return switch identity.kind {
        case .flatpak: Text("the Flatpak “\(name)”")
        case .snap: Text("the Snap “\(name)”")
        case .label: Text("the sandbox “\(name)”")
        case .program: Text("the program “\(name)”")
        case .script: Text("the script “\(name)”")
        case .unit: Text("the service “\(name)”")
        }
    }
}

extension RuleItems {
    /// Bytes of names and values, for the same reason.
    private static let keychainBytes = 40
    private static let pairBytes = 120
    private static let partBytes = 58

    var words: Text {
        var words: [Text] = []
        if let item {
            let keychain = RuleItems.name(of: item.collection)
            words.append(Text("item \(String(item.id.rawValue)) of the keychain “\(keychain)”"))
        }
        // Translators: attributes, such as service=bank
        if !attributes.isEmpty { words.append(Text("items with \(Text.list(pairs))")) }
        if let collection { words.append(Text("what is in the keychain “\(RuleItems.name(of: collection))”")) }
        return words.isEmpty ? Text("everything") : .list(words)
    }

    private static func name(of collection: CollectionName) -> String {
        PromptText.prefix(of: collection.encoded, bytes: keychainBytes)
    }

    /// The first attributes, and a sign that there are others.
    private var pairs: [Text] {
        var pairs: [Text] = []
        var room = RuleItems.pairBytes
        var isCut = false
        attributes.forEach { name, value in
            guard !isCut else { return }
            let parts = [name, value].map { text in
                PromptText.prefix(of: PromptText.name(String(cString: text)), bytes: RuleItems.partBytes)
            }
            let pair = parts.joined(separator: "=")
            room -= pair.shownBytes
            guard pairs.isEmpty || room >= 0 else {
                isCut = true
                return
            }
            // A value with words could go on as if it were the sentence.
            pairs.append(RuleItems.isOneWord(pair) ? Text(verbatim: pair) : Text("“\(pair)”"))
        }
        return isCut ? pairs + [Text(verbatim: "…")] : pairs
    }

    private static func isOneWord(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "-_.:/@=+…".unicodeScalars.contains(scalar)
        }
    }
}

extension Strength {
    /// How far a rule about such an identity can be relied on.
    var words: Text {
        switch self {
        case .proven: Text("This program is proven: it cannot pretend to be another.")
        case .likely: Text("This program is likely: another one can act through it.")
        case .said: Text("This program is only said: another one can pretend to be it.")
        }
    }
}
