extension KeychainItem {
    static let schemaName = "xdg:schema"
    static let className = "keychain:class"
    static let unlabelledName = "keychain:unlabelled"

    /// Reads an item of any program; every item is of some class.
    package init(_ attributes: Attributes, label: String) {
        let schema = attributes[Self.schemaName]
        let marked = attributes[Self.className].flatMap(ItemClass.init(rawValue:))
        let itemClass = marked ?? schema.flatMap(ItemClass.init(schema:)) ?? .genericPassword
        // What go-keyring and Python's keyring write.
        let hasUsername = attributes["account"] == nil && attributes["username"] != nil
        self.init(
            itemClass,
            schema: schema,
            isMarked: marked != nil,
            accountName: itemClass == .genericPassword && hasUsername ? "username" : nil
        )
        var values: [KeychainAttribute: KeychainValue] = [:]
        var known = marked == nil ? [Self.schemaName] : [Self.schemaName, Self.className]
        for rule in itemClass.rules {
            let name = name(of: rule)
            guard let text = attributes[name], let value = rule.form.value(text) else { continue }
            values[rule.attribute] = value
            known.append(name)
        }
        take(values, others: attributes.without(known))
        // The label may have been changed since by a program that knows nothing of the mark.
        if attributes[Self.unlabelledName] == "true", label.utf8.elementsEqual(derivedLabel.utf8) {
            take(values, others: attributes.without(known + [Self.unlabelledName]))
        } else {
            self.label = label
        }
    }

    /// The attributes to store it with.
    package var attributes: Attributes {
        var pairs = others.pairs
        if let schema { pairs.append((Self.schemaName, schema)) }
        if isMarked { pairs.append((Self.className, itemClass.rawValue)) }
        if label == nil { pairs.append((Self.unlabelledName, "true")) }
        for rule in itemClass.rules {
            guard let value = values[rule.attribute], let text = rule.form.text(value) else { continue }
            pairs.append((name(of: rule), text))
        }
        return Attributes(pairs)
    }

    /// The label to store it with: its own, or one that people can make something of.
    package var storedLabel: String {
        label ?? derivedLabel
    }

    private var derivedLabel: String {
        let names = [values[.service], values[.server], values[.account]].compactMap { value in
            if case .text(let text)? = value, !text.isEmpty { text } else { nil }
        }
        return names.isEmpty ? itemClass.schema : names.joined(separator: " – ")
    }
}

extension Attributes {
    /// All names and values.
    var pairs: [(String, String)] {
        var pairs: [(String, String)] = []
        forEach { name, value in pairs.append((String(cString: name), String(cString: value))) }
        return pairs
    }

    /// Those with some names, compared by their bytes.
    package func only(_ names: [String]) -> Attributes {
        Attributes(pairs.filter { pair in names.contains { $0.utf8.elementsEqual(pair.0.utf8) } })
    }

    /// These without some names, compared by their bytes.
    func without(_ names: [String]) -> Attributes {
        Attributes(pairs.filter { pair in !names.contains { $0.utf8.elementsEqual(pair.0.utf8) } })
    }
}
