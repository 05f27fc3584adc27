extension KeychainItem {
    /// What to search for, to find all items that have at least this one's class and attributes: the hits of all searches together are
    /// more than that, and are to be held against ``matches(_:ignoringCase:)``.
    ///
    /// There is more than one where programs keep the same under different names. A value that is empty is searched for as it is, which
    /// leaves out items that do not have the attribute at all.
    package var searches: [Attributes] {
        var pairs: [(String, String)] = []
        var account: String?
        for rule in itemClass.rules {
            guard let value = values[rule.attribute], let text = rule.form.text(value) else { continue }
            if rule.attribute == .account, itemClass == .genericPassword {
                account = text
            } else if rule.form != .boolean {
                // A boolean that is not there is false.
                pairs.append((rule.name, text))
            }
        }
        guard let account else { return [Attributes(pairs)] }
        return ["account", "username"].map { Attributes(pairs + [($0, account)]) }
    }

    /// Whether an item has this one's class, and at least its attributes with the same values.
    ///
    /// What is not there counts as empty, zero or false. Texts are compared by their bytes: of one letter in two Unicode forms only the
    /// form that is wanted matches.
    ///
    /// - Parameter ignoringCase: whether upper and lower case are the same.
    package func matches(_ item: KeychainItem, ignoringCase: Bool = false) -> Bool {
        guard item.itemClass == itemClass else { return false }
        return values.keys.allSatisfy { attribute in
            KeychainItem.isSame(text(of: attribute), item.text(of: attribute), ignoringCase: ignoringCase)
        }
    }

    /// Whether two texts have the same bytes.
    package static func isSame(_ first: String, _ second: String, ignoringCase: Bool) -> Bool {
        ignoringCase
            ? first.lowercased().utf8.elementsEqual(second.lowercased().utf8) : first.utf8.elementsEqual(second.utf8)
    }

    /// The spelling of a value.
    private func text(of attribute: KeychainAttribute) -> String {
        guard let rule = itemClass.rules.first(where: { $0.attribute == attribute }) else { return "" }
        if let text = values[attribute].flatMap(rule.form.text) { return text }
        switch rule.form {
        case .boolean: return "false"
        case .number: return "0"
        case .text, .data, .protocolName, .schemeName, .keyClassName, .keyTypeName: return ""
        }
    }
}
