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

    /// Class and values that the items have.
    private let wanted: KeychainItem

    /// The label that they have; nil if any will do.
    private let label: String?

    /// When they were made and last changed, in seconds since 1970; nil if that does not matter.
    private let created: Double?
    private let modified: Double?

    /// Whether they have no access control; else it does not matter, unless it is among the values.
    private let isUnconstrained: Bool

    /// Whether items that are marked to be synchronised are meant: only where a query says so (A17).
    private let synchronizable: Synchronizable

    /// Whether upper and lower case are the same.
    private let ignoresCase: Bool

    /// What can be asked for, as an item; the rest has to be looked at.
    private let asked: KeychainItem

    /// Throws if a value is none that its attribute can have.
    init(_ query: ItemQuery, of itemClass: ItemClass) throws(StatusError) {
        label = query.label
        created = query.created
        modified = query.modified
        isUnconstrained = query.isUnconstrained
        synchronizable = query.synchronizable ?? .no
        ignoresCase = query.ignoresCase
        var wanted = KeychainItem(itemClass)
        var asked = wanted
        for (attribute, value) in query.values {
            try wanted.setChecked(attribute, value)
            // What is empty may be missing instead, and what is in either case cannot be asked for.
            if ItemSearch.isAskedFor(attribute, value, ignoresCase) { try asked.setChecked(attribute, value) }
        }
        self.wanted = wanted
        self.asked = asked
    }

    /// The class of the items.
    var itemClass: ItemClass { wanted.itemClass }

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
        label != nil || created != nil || modified != nil || isUnconstrained || asked.values.count < wanted.values.count
    }

    /// What to ask for to find the items of other programs; nothing if they cannot have what is wanted.
    ///
    /// Hits have to be held against ``isMet(by:)``, and those among ``own`` left out. Only a service or server finds them: a program
    /// that deletes everything of a class means what is its own.
    var foreign: [[String: String]] {
        let place: KeychainAttribute = itemClass == .genericPassword ? .service : .server
        guard synchronizable != .yes, wanted[place] != nil,
            KeychainAttribute.foreign.isSuperset(of: wanted.values.keys)
        else { return [] }
        return asked.searches.map(\.dictionary)
    }

    /// Whether what a provider tells of an item makes it one that is meant.
    func isMet(by properties: SecretItem.Properties) -> Bool {
        let item = KeychainItem(properties)
        guard wanted.matches(item, ignoringCase: ignoresCase), !isUnconstrained || item[.accessControl] == nil,
            created == nil || created == Double(properties.created),
            modified == nil || modified == Double(properties.modified)
        else { return false }
        // The label that results have, which is made of other attributes where the item was stored without one.
        if let label, !KeychainItem.isSame(item.storedLabel, label, ignoringCase: ignoresCase) { return false }
        let isSynchronizable = item[.synchronizable] == .boolean(true)
        return synchronizable == .any || isSynchronizable == (synchronizable == .yes)
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
