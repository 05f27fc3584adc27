extension KeychainItem {
    static let className = "keychain:class"
    static let unlabelledName = "keychain:unlabelled"

    /// Names the attributes that a program gave as data instead of text, or as text instead of data.
    static let otherTypesName = "keychain:other-types"

    private static let labelName = "label"

    /// Reads an item of any program; every item has a class.
    package init(_ attributes: Attributes, label: String) {
        let schema = attributes[Attributes.schema]
        let marked = attributes[Self.className].flatMap(ItemClass.init(rawValue:))
        let itemClass = marked ?? schema.flatMap(ItemClass.init(schema:)) ?? .genericPassword
        // The name that go-keyring and Python's keyring use.
        let hasUsername = attributes["account"] == nil && attributes["username"] != nil
        self.init(
            itemClass,
            schema: schema,
            isMarked: marked != nil,
            accountName: itemClass == .genericPassword && hasUsername ? "username" : nil
        )
        let own = marked == nil ? [Attributes.schema] : [Attributes.schema, Self.className]
        take(attributes, label, known: own, otherTypes: [])
        // The names count only as this library writes them; another program may have changed the values since.
        guard let names = attributes[Self.otherTypesName], !names.isEmpty else { return }
        var typed = self
        let known = own + [Self.otherTypesName]
        typed.take(attributes, label, known: known, otherTypes: Set(names.split(separator: ",").map(String.init)))
        if typed.otherTypes.utf8.elementsEqual(names.utf8) { self = typed }
    }

    /// Reads the attributes of the class; the others are kept except for the known ones.
    private mutating func take(_ attributes: Attributes, _ label: String, known: [String], otherTypes: Set<String>) {
        var values: [KeychainAttribute: KeychainValue] = [:]
        var known = known
        for rule in itemClass.rules {
            let name = name(of: rule)
            let hasOtherType = otherTypes.contains(rule.attribute.rawValue)
            guard let text = attributes[name], let value = rule.form.value(text, hasOtherType: hasOtherType) else {
                continue
            }
            values[rule.attribute] = value
            known.append(name)
        }
        take(values, others: attributes.without(known))
        // A program that does not know the mark may have changed the label since.
        if attributes[Self.unlabelledName] == "true", label.utf8.elementsEqual(derivedLabel.utf8) {
            take(values, others: attributes.without(known + [Self.unlabelledName]))
            self.label = nil
        } else {
            self.label = label
            isLabelData = otherTypes.contains(Self.labelName)
        }
    }

    /// The names of the attributes whose values have the less common type, separated by commas.
    private var otherTypes: String {
        var names = itemClass.rules.filter { rule in values[rule.attribute].map(rule.form.isOtherType) == true }
            .map(\.attribute.rawValue)
        if label != nil, isLabelData { names.append(Self.labelName) }
        return names.sorted().joined(separator: ",")
    }

    package var attributes: Attributes {
        var pairs = others.pairs
        if let schema { pairs.append((Attributes.schema, schema)) }
        if isMarked { pairs.append((Self.className, itemClass.rawValue)) }
        if label == nil { pairs.append((Self.unlabelledName, "true")) }
        for rule in itemClass.rules {
            guard let value = values[rule.attribute], let text = rule.form.text(value) else { continue }
            pairs.append((name(of: rule), text))
        }
        let otherTypes = otherTypes
        if !otherTypes.isEmpty { pairs.append((Self.otherTypesName, otherTypes)) }
        return Attributes(pairs)
    }

    /// The label to store: the item's own, or a derived one for people.
    package var storedLabel: String {
        label ?? derivedLabel
    }

    private var derivedLabel: String {
        let names = [values[.service], values[.server], values[.account]].compactMap { value in
            let text: String? =
                switch value {
                case .text(let text): DataURL.plainText(Array(text.utf8))
                case .data(let bytes): DataURL.plainText(bytes)
                default: nil
                }
            return text?.isEmpty == false ? text : nil
        }
        return names.isEmpty ? itemClass.schema : names.joined(separator: " – ")
    }
}

extension Attributes {
    var pairs: [(String, String)] {
        var pairs: [(String, String)] = []
        forEach { name, value in pairs.append((String(cString: name), String(cString: value))) }
        return pairs
    }

    /// Compares names by bytes.
    package func only(_ names: [String]) -> Attributes {
        Attributes(pairs.filter { pair in names.contains { $0.utf8.elementsEqual(pair.0.utf8) } })
    }

    /// Compares names by bytes.
    func without(_ names: [String]) -> Attributes {
        Attributes(pairs.filter { pair in !names.contains { $0.utf8.elementsEqual(pair.0.utf8) } })
    }
}

extension KeychainItem {
    /// Searches that together find every item with at least this item's class and attributes, and more.
    ///
    /// Filter the hits with ``matches(_:ignoringCase:)``. There are several where programs use different names for one
    /// attribute. An empty value is searched for literally, which misses items without the attribute.
    package var searches: [[String: String]] {
        var search: [String: String] = [:]
        var account: String?
        for rule in itemClass.rules {
            guard let value = values[rule.attribute], let text = rule.form.text(value) else { continue }
            if rule.attribute == .account, itemClass == .genericPassword {
                account = text
            } else if rule.form != .boolean {
                // An absent boolean is false.
                search[rule.name] = text
            }
        }
        guard let account else { return [search] }
        return ["account", "username"].map { name in
            var search = search
            search[name] = account
            return search
        }
    }

    /// Whether an item has the same class and at least the same attributes.
    ///
    /// An absent value counts as empty, zero or false. Texts are compared by bytes, without Unicode normalization.
    package func matches(_ item: KeychainItem, ignoringCase: Bool = false) -> Bool {
        guard item.itemClass == itemClass else { return false }
        return values.keys.allSatisfy { attribute in
            KeychainItem.isSame(text(of: attribute), item.text(of: attribute), ignoringCase: ignoringCase)
        }
    }

    package static func isSame(_ first: String, _ second: String, ignoringCase: Bool) -> Bool {
        ignoringCase
            ? first.lowercased().utf8.elementsEqual(second.lowercased().utf8) : first.utf8.elementsEqual(second.utf8)
    }

    private func text(of attribute: KeychainAttribute) -> String {
        guard let rule = itemClass.rules.first(where: { $0.attribute == attribute }) else { return "" }
        if let text = effective(attribute).flatMap(rule.form.text) { return text }
        switch rule.form {
        case .boolean: return "false"
        case .number: return "0"
        case .text, .textOrData, .data, .dataOrText, .protocolName, .schemeName, .keyClassName, .keyTypeName,
            .keyTokenName:
            return ""
        }
    }
}
