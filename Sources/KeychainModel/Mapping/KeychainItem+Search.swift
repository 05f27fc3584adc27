extension KeychainItem {
    /// What to search for, to find all items that have at least this one's class and attributes: the hits of all searches together are
    /// more than that, and are to be held against ``matches(_:)``.
    ///
    /// There is more than one where programs keep the same under different names.
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

    /// Whether an item has this one's class, and at least its attributes with the same values; a boolean that is not there is false.
    package func matches(_ item: KeychainItem) -> Bool {
        guard item.itemClass == itemClass else { return false }
        return values.allSatisfy { attribute, value in
            guard let rule = itemClass.rules.first(where: { $0.attribute == attribute }),
                let wanted = rule.form.text(value)
            else { return false }
            let found = item.values[attribute] ?? (rule.form == .boolean ? .boolean(false) : nil)
            // As texts, since these are compared by bytes.
            return found.flatMap(rule.form.text)?.utf8.elementsEqual(wanted.utf8) == true
        }
    }

    /// Whether the two cannot both be there: the same class, and the same values of what tells its items apart.
    package func isDuplicate(of other: KeychainItem) -> Bool {
        guard itemClass == other.itemClass else { return false }
        return itemClass.primaryKey.allSatisfy { attribute in
            keyText(attribute).elementsEqual(other.keyText(attribute))
        }
    }

    /// What is not there counts as empty, zero or false.
    private func keyText(_ attribute: KeychainAttribute) -> String.UTF8View {
        guard let rule = itemClass.rules.first(where: { $0.attribute == attribute }) else { return "".utf8 }
        if let text = values[attribute].flatMap(rule.form.text) { return text.utf8 }
        switch rule.form {
        case .boolean: return "false".utf8
        case .number: return "0".utf8
        case .text, .data, .protocolName, .schemeName, .keyClassName, .keyTypeName: return "".utf8
        }
    }
}
