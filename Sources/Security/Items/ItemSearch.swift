import KeychaindModel
import SecretServiceClient

/// The search of a query: attributes to ask a provider for, and conditions to check afterwards.
struct ItemSearch: Sendable {
    /// Selects items by the mark for synchronisation.
    enum Synchronizable: Sendable {
        case no
        case yes
        case any
    }

    /// The class and the attributes of the items.
    private let wanted: KeychainItem

    /// The label; nil for any.
    private let label: String?

    /// The dates in seconds since 1970; nil for any.
    private let created: Double?
    private let modified: Double?

    /// Whether the items must have no access control.
    private let isUnconstrained: Bool

    /// Items marked for synchronisation match only on request (A17).
    private let synchronizable: Synchronizable

    /// Whether upper and lower case match.
    private let ignoresCase: Bool

    /// The attributes that the provider can search for; the others are checked afterwards.
    private let asked: KeychainItem

    /// Throws if a value is not valid for its attribute.
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
            // Empty attributes may be missing, and providers cannot ignore case.
            if ItemSearch.isAskedFor(attribute, value, ignoresCase) { try asked.setChecked(attribute, value) }
        }
        self.wanted = wanted
        self.asked = asked
    }

    /// The class of the items.
    var itemClass: ItemClass { wanted.itemClass }

    /// The attributes to search for among items that were added through Apple's API.
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

    /// Whether results of ``own`` have to be checked by ``isMet(by:)``.
    var needsCheck: Bool {
        label != nil || created != nil || modified != nil || isUnconstrained || asked.values.count < wanted.values.count
    }

    /// The attributes to search for among items of other programs; empty if they cannot match.
    ///
    /// Results have to be checked by ``isMet(by:)``, and may repeat those of ``own``. Only a service or server finds
    /// them: a program that deletes all items of a class means its own.
    var foreign: [[String: String]] {
        let place: KeychainAttribute = itemClass == .genericPassword ? .service : .server
        guard synchronizable != .yes, wanted[place] != nil,
            KeychainAttribute.foreign.isSuperset(of: wanted.values.keys)
        else { return [] }
        return asked.searches.map(\.dictionary)
    }

    /// Whether an item with these properties matches.
    func isMet(by properties: SecretItem.Properties) -> Bool {
        let item = KeychainItem(properties)
        guard wanted.matches(item, ignoringCase: ignoresCase), !isUnconstrained || item[.accessControl] == nil,
            created == nil || created == Double(properties.created),
            modified == nil || modified == Double(properties.modified)
        else { return false }
        // Items stored without a label get one from other attributes in results.
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
    /// Sets or removes an attribute; throws ``errSecParam`` for an invalid value.
    mutating func setChecked(_ attribute: KeychainAttribute, _ value: KeychainValue?) throws(StatusError) {
        do throws(AccessControlError) {
            try set(attribute, to: value)
        } catch {
            throw StatusError(errSecParam, error.reason)
        }
    }
}

extension Attributes {
    /// Names and values for the client library.
    var dictionary: [String: String] {
        var dictionary: [String: String] = [:]
        forEach { name, value in dictionary[String(cString: name)] = String(cString: value) }
        return dictionary
    }
}
