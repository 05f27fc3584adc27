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
            }
        let until = end.map { Text("Until \(RuleTime.text(of: $0)).") } ?? .empty
        return .joined([what.capitalized, until, self.programs.strength?.words ?? .empty])
    }
}

extension RulePrograms {
    var words: Text {
        var words = program.words
        // Translators: programs, such as "git" and "secret-tool"
        if let helper { words = Text("\(words), through \(helper.words)") }
        // Translators: programs, such as "git" and "a terminal"
        if let place { words = Text("\(words), in \(place.words)") }
        return words
    }
}

extension RulePrograms.Pattern {
    fileprivate var words: Text {
        guard case .identity(let identity) = self else { return Text("every program") }
        let name = PromptText.name(identity.name, limit: 200)
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
    var words: Text {
        var words: [Text] = []
        if let item {
            words.append(Text("item \(String(item.id.rawValue)) of the keychain “\(item.collection.encoded)”"))
        }
        if !attributes.isEmpty {
            var pairs: [Text] = []
            attributes.forEach { name, value in
                let name = PromptText.name(String(cString: name))
                pairs.append(Text(verbatim: "\(name)=\(PromptText.name(String(cString: value)))"))
            }
            // Translators: attributes, such as service=bank
            words.append(Text("items with \(Text.list(pairs))"))
        }
        if let collection { words.append(Text("what is in the keychain “\(collection.encoded)”")) }
        return words.isEmpty ? Text("everything") : .list(words)
    }
}

extension Strength {
    /// What a rule about such an identity can rely on.
    var words: Text {
        switch self {
        case .proven: Text("This program is proven: it cannot pretend to be another.")
        case .likely: Text("This program is likely: another one can act through it.")
        case .said: Text("This program is only said: another one can pretend to be it.")
        }
    }
}
