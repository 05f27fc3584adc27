/// An item as Apple's API sees it: a class, and attributes of that class.
///
/// Made by a program of that API, or read from any item whatever program has stored it. What an item has that Apple's API has no word for
/// is kept, so that writing an item as it was read changes nothing.
package struct KeychainItem: Hashable, Sendable {
    /// What it is.
    package let itemClass: ItemClass

    /// The label; nil if the program gave none.
    package var label: String?

    /// The values of Apple's attributes.
    package private(set) var values: [KeychainAttribute: KeychainValue] = [:]

    /// The attributes that mean nothing to Apple's API.
    package private(set) var others = Attributes()

    /// The `xdg:schema`; nil if the item has none.
    let schema: String?

    /// Whether the item says itself which class it is.
    let isMarked: Bool

    /// The name under which it keeps the account; nil for the usual one.
    let accountName: String?

    /// Makes an item without attributes.
    package init(_ itemClass: ItemClass) {
        self.init(itemClass, schema: itemClass.schema, isMarked: true)
    }

    init(_ itemClass: ItemClass, schema: String?, isMarked: Bool, accountName: String? = nil) {
        self.itemClass = itemClass
        self.schema = schema
        self.isMarked = isMarked
        self.accountName = accountName
    }

    /// The value of an attribute.
    package subscript(attribute: KeychainAttribute) -> KeychainValue? {
        values[attribute]
    }

    /// Sets an attribute, or takes it off.
    ///
    /// Throws ``AccessControlError/Code/invalidValue`` if the class has no such attribute, or the attribute no such values.
    package mutating func set(_ attribute: KeychainAttribute, to value: KeychainValue?) throws(AccessControlError) {
        guard let rule = itemClass.rules.first(where: { $0.attribute == attribute }) else {
            throw AccessControlError(.invalidValue, reason: "a \(itemClass.rawValue) has no \(attribute.rawValue)")
        }
        if let value, rule.form.text(value) == nil {
            throw AccessControlError(
                .invalidValue,
                reason: "the value of \(attribute.rawValue) is none that it can have"
            )
        }
        values[attribute] = value
        others = others.without([name(of: rule)])
    }

    /// Takes what was read as it is.
    mutating func take(_ values: [KeychainAttribute: KeychainValue], others: Attributes) {
        self.values = values
        self.others = others
    }

    /// The name under which this item keeps an attribute.
    func name(of rule: AttributeRule) -> String {
        rule.attribute == .account ? accountName ?? rule.name : rule.name
    }
}
