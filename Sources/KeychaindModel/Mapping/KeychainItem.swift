/// An item as in Apple's API, or of any other program: a class and its attributes.
///
/// Attributes without a counterpart in Apple's API are kept, so writing an item back changes nothing.
package struct KeychainItem: Hashable, Sendable {
    package let itemClass: ItemClass

    package var label: String?

    /// Whether the program gave the label as data.
    package var isLabelData = false

    package private(set) var values: [KeychainAttribute: KeychainValue] = [:]

    /// The attributes without a counterpart in Apple's API.
    package private(set) var others = Attributes()

    let schema: String?

    /// Whether the item names its own class.
    let isMarked: Bool

    let accountName: String?

    package init(_ itemClass: ItemClass) {
        self.init(itemClass, schema: itemClass.schema, isMarked: true)
    }

    init(_ itemClass: ItemClass, schema: String?, isMarked: Bool, accountName: String? = nil) {
        self.itemClass = itemClass
        self.schema = schema
        self.isMarked = isMarked
        self.accountName = accountName
    }

    package subscript(attribute: KeychainAttribute) -> KeychainValue? {
        values[attribute]
    }

    /// The value of an attribute, or what Apple's keychain assumes without one.
    package func effective(_ attribute: KeychainAttribute) -> KeychainValue? {
        values[attribute] ?? implied(attribute)
    }

    /// Sets an attribute, or removes it for nil.
    ///
    /// Throws ``AccessControlError/Code/invalidValue`` if the class does not have the attribute, or the attribute not
    /// the value.
    package mutating func set(_ attribute: KeychainAttribute, to value: KeychainValue?) throws(AccessControlError) {
        guard let rule = itemClass.rules.first(where: { $0.attribute == attribute }) else {
            throw AccessControlError(
                .invalidValue,
                reason: "items of class \(itemClass.rawValue) have no \(attribute.rawValue)"
            )
        }
        if let value, rule.form.text(value) == nil {
            throw AccessControlError(
                .invalidValue,
                reason: "the value of \(attribute.rawValue) is invalid"
            )
        }
        if attribute == .accessControl, itemClass != .key, case .text(let text)? = value,
            (try? AccessControl(parsing: text))?.isForPrivateKeyUsage == true
        {
            throw AccessControlError(.contradiction, reason: "privateKeyUsage is for keys only")
        }
        values[attribute] = value
        if !others.isEmpty { others = others.without([name(of: rule)]) }
    }

    mutating func take(_ values: [KeychainAttribute: KeychainValue], others: Attributes) {
        self.values = values
        self.others = others
    }

    private func implied(_ attribute: KeychainAttribute) -> KeychainValue? {
        if attribute == .accessible { return .text(Accessibility.whenUnlocked.rawValue) }
        guard itemClass == .key, case .text(let code)? = values[.keyClass], let keyClass = KeyClass(code: code),
            let isAble = keyClass.isAble(attribute)
        else { return nil }
        return .boolean(isAble)
    }

    func name(of rule: AttributeRule) -> String {
        rule.attribute == .account ? accountName ?? rule.name : rule.name
    }
}

extension KeychainItem {
    /// The attribute names that identify an item: no two items of its class share their values.
    package var uniqueNames: [String] {
        let rules = itemClass.rules.filter { itemClass.primaryKey.contains($0.attribute) }
        return [Self.className] + rules.map { name(of: $0) }
    }

    /// The search for items that name their own class, as those from Apple's API do.
    package var markedSearch: [String: String] {
        var search = searches.first ?? [:]
        search[Self.className] = itemClass.rawValue
        return search
    }
}
