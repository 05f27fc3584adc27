import KeychainModel
import SecretServiceClient

/// Which items a query is about, and how to ask a provider for them.
struct ItemSearch: Sendable {
    /// Whether items that are marked to be synchronised are meant.
    enum Synchronizable: Sendable {
        case no
        case yes
        case any
    }

    /// The class of the items.
    let itemClass: ItemClass

    /// The values that they have.
    let values: [KeychainAttribute: KeychainValue]

    /// The label that they have; nil if any will do.
    let label: String?

    /// Whether items that are marked to be synchronised are meant: only where a query says so (A17).
    let synchronizable: Synchronizable

    /// Whether upper and lower case are the same.
    let ignoresCase: Bool

    /// What can be asked for, as an item; the rest has to be looked at.
    private let asked: KeychainItem

    /// Throws if a value is none that its attribute can have.
    init(_ query: ItemQuery, of itemClass: ItemClass) throws(StatusError) {
        self.itemClass = itemClass
        values = query.values
        label = query.label
        synchronizable = query.synchronizable ?? .no
        ignoresCase = query.ignoresCase
        var asked = KeychainItem(itemClass)
        for (attribute, value) in values {
            try asked.setChecked(attribute, value)
            // What is empty may be missing instead, and what is in either case cannot be asked for.
            if !ItemSearch.isAskedFor(attribute, value, ignoresCase) { try asked.setChecked(attribute, nil) }
        }
        self.asked = asked
    }

    /// What to ask for to find the items that were made through Apple's API.
    var own: [String: String] {
        var attributes = asked.markedSearch?.dictionary ?? [:]
        let name = ReservedAttribute.synchronizable.rawValue
        switch synchronizable {
        case .no: attributes[name] = "false"
        case .yes: attributes[name] = "true"
        case .any: break
        }
        return attributes
    }

    /// Whether hits of ``own`` have to be held against ``isMet(by:)``; else each of them is meant.
    var isWiderThanMeant: Bool {
        label != nil || values.contains { !ItemSearch.isAskedFor($0.key, $0.value, ignoresCase) }
    }

    /// What to ask for to find the items of other programs; nothing if they cannot have what is wanted.
    ///
    /// Hits have to be held against ``isMet(by:)``, and those among ``own`` left out. Only a service or server finds them: a program
    /// that deletes everything of a class means what is its own.
    var foreign: [[String: String]] {
        let place: KeychainAttribute = itemClass == .genericPassword ? .service : .server
        guard synchronizable != .yes, values[place] != nil, KeychainAttribute.foreign.isSuperset(of: values.keys) else {
            return []
        }
        return asked.searches.map(\.dictionary)
    }

    /// Whether what a provider tells of an item makes it one that is meant.
    func isMet(by properties: SecretItem.Properties) -> Bool {
        let item = KeychainItem(Attributes(properties.attributes.map { ($0.key, $0.value) }), label: properties.label)
        guard item.itemClass == itemClass, label == nil || isSame(.text(item.label ?? ""), .text(label ?? "")) else {
            return false
        }
        let isSynchronizable = item[.synchronizable] == .boolean(true)
        guard synchronizable == .any || isSynchronizable == (synchronizable == .yes) else { return false }
        return values.allSatisfy { attribute, value in
            guard let found = item[attribute] else { return value.isEmpty }
            return isSame(found, value)
        }
    }

    private func isSame(_ found: KeychainValue, _ wanted: KeychainValue) -> Bool {
        guard ignoresCase, case (.text(let found), .text(let wanted)) = (found, wanted) else { return found == wanted }
        return found.lowercased() == wanted.lowercased()
    }

    private static func isAskedFor(_ attribute: KeychainAttribute, _ value: KeychainValue, _ ignoresCase: Bool) -> Bool
    {
        guard attribute.kind != .boolean, !(ignoresCase && attribute.kind == .text) else { return false }
        return !value.isEmpty || [.account, .service, .server].contains(attribute)
    }
}

extension KeychainItem {
    /// Sets an attribute, or takes it off; throws ``errSecParam`` for a value that it cannot have.
    mutating func setChecked(_ attribute: KeychainAttribute, _ value: KeychainValue?) throws(StatusError) {
        do throws(AccessControlError) {
            try set(attribute, to: value)
        } catch {
            throw StatusError(errSecParam, error.reason)
        }
    }
}

extension Attributes {
    /// Names and values, as the client library takes them.
    var dictionary: [String: String] {
        var dictionary: [String: String] = [:]
        forEach { name, value in dictionary[String(cString: name)] = String(cString: value) }
        return dictionary
    }
}
