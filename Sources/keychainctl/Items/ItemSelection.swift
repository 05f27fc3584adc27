import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage

/// Which items are meant.
struct ItemSelection: Sendable, Equatable {
    var attributes: [String: String] = [:]
    var label: String?
    var keychain: String?
    /// As lists show it, such as `login/7`, or a whole object path.
    var id: String?

    var isEmpty: Bool { self == ItemSelection() }

    /// Reads `NAME=VALUE`; the first equals sign ends the name.
    static func attributes(_ texts: [String]) throws -> [String: String] {
        var attributes: [String: String] = [:]
        for text in texts {
            guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
                throw ValidationError("“\(text.visible)” is not an attribute: write NAME=VALUE")
            }
            let name = String(text[..<sign])
            guard attributes.updateValue(String(text[text.index(after: sign)...]), forKey: name) == nil else {
                throw ValidationError("the attribute “\(name.visible)” is given twice")
            }
        }
        return attributes
    }

    /// The query in words, for messages.
    var words: Text {
        var parts = attributes.sorted { $0.key < $1.key }.map { name, value in
            Text(verbatim: "\(name.visible)=\(value.visible)")
        }
        if let label { parts.append(Text("the label “\(label.visible)”")) }
        if let id { parts.append(Text("the number \(id.visible)")) }
        if let keychain { parts.append(Text("in the keychain “\(keychain.visible)”")) }
        return .joined(parts)
    }
}

/// The arguments that name items.
struct ItemArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("Attributes of the item.", valueName: "name=value"))
    var attributes: [String] = []

    @Option(help: "The label of the item.")
    var label: String?

    @Option(help: "The label of its keychain.")
    var keychain: String?

    @Option(help: "The item's place as lists show it, such as login/7.")
    var id: String?

    func validate() throws {
        guard !(try query).isEmpty else { throw ValidationError("name an item: by NAME=VALUE, --label or --id") }
        guard id == nil || attributes.isEmpty && label == nil && keychain == nil else {
            throw ValidationError("--id names one item; leave out the other conditions")
        }
    }

    var query: ItemSelection {
        get throws {
            ItemSelection(
                attributes: try ItemSelection.attributes(attributes),
                label: label,
                keychain: keychain,
                id: id
            )
        }
    }
}
