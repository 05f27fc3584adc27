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

    /// The class and the attributes of the items, except the access group.
    private let wanted: KeychainItem

    /// The access group; nil for all of the program.
    private let group: String?

    /// The program's own group, and that of items without one.
    private let programGroup: String

    /// The label; nil for any.
    private let label: String?

    /// The dates in microseconds since 1970; nil for any.
    private let created: Double?
    private let modified: Double?

    /// Whether the items must have no access control.
    private let isUnconstrained: Bool

    /// Items marked for synchronisation match only on request (A17).
    private let synchronizable: Synchronizable

    /// Whether upper and lower case match.
    private let ignoresCase: Bool

    /// The only items to consider; nil for all.
    private let candidates: [ListedItem]?

    /// The attributes that the provider can search for.
    private let asked: KeychainItem

    /// Whether the provider cannot search for all that the query says, apart from the program's groups.
    let needsCheck: Bool

    /// Throws if a value is not valid for its attribute.
    init(_ query: ItemQuery, of itemClass: ItemClass) throws(StatusError) {
        programGroup = query.programGroup
        label = query.label
        created = query.created.map { ($0 * 1e6).rounded() }
        modified = query.modified.map { ($0 * 1e6).rounded() }
        isUnconstrained = query.isUnconstrained
        synchronizable = query.synchronizable ?? .no
        ignoresCase = query.ignoresCase
        candidates = query.candidates
        var wanted = KeychainItem(itemClass)
        var asked = wanted
        var group: String?
        var needsCheck =
            label != nil || created != nil || modified != nil || isUnconstrained || candidates != nil
        for (attribute, value) in query.values {
            try wanted.setChecked(attribute, value)
            var isAsked = ItemSearch.isAskedFor(attribute, value, ignoresCase)
            if attribute == .accessGroup, case .text(let name) = value {
                group = name
                try wanted.setChecked(attribute, nil)
                // Items without a group belong to the program's.
                isAsked = name != query.programGroup
            }
            if isAsked { try asked.setChecked(attribute, value) } else { needsCheck = true }
        }
        self.group = group
        self.wanted = wanted
        self.asked = asked
        self.needsCheck = needsCheck
        own = ItemSearch.own(asked, synchronizable)
    }

    private static func own(_ asked: KeychainItem, _ synchronizable: Synchronizable) -> [String: String] {
        var attributes = asked.markedSearch
        let name = ReservedAttribute.synchronizable.rawValue
        switch synchronizable {
        case .no: attributes[name] = "false"
        case .yes: attributes[name] = "true"
        case .any: break
        }
        return attributes
    }

    /// The class of the items.
    var itemClass: ItemClass { wanted.itemClass }

    /// The attributes to search for among items that were added through Apple's API; results have to be checked by
    /// ``isMet(by:)``.
    let own: [String: String]

    /// The attributes to search for among items of other programs; empty if they cannot match.
    ///
    /// Results have to be checked by ``isMet(by:)``, and may repeat those of ``own``. Only a service or server finds
    /// them: a program that deletes all items of a class means its own.
    var foreign: [[String: String]] {
        let place: KeychainAttribute = itemClass == .genericPassword ? .service : .server
        guard synchronizable != .yes, wanted[place] != nil, group ?? programGroup == programGroup,
            wanted.values.keys.allSatisfy(KeychainAttribute.foreign.contains)
        else { return [] }
        return asked.searches
    }

    /// Whether an item matches, or may match as far as its attributes are known.
    func isMet(by record: SecretItemRecord) -> Bool {
        // A provider has found it by attributes that it does not tell before the keychain is unlocked.
        guard !record.isSealed else { return record.query == 0 && !needsCheck }
        let item = KeychainItem(record.properties)
        let itsGroup = item.group(orProgram: programGroup)
        let isInGroup = group.map { $0 == itsGroup } ?? ProgramGroup.covers(itsGroup, of: programGroup)
        guard wanted.matches(item, ignoringCase: ignoresCase), !isUnconstrained || item[.accessControl] == nil,
            created == nil || created == Double(record.created),
            modified == nil || modified == Double(record.modified),
            isInGroup
        else { return false }
        // Items stored without a label get one from other attributes in results.
        if let label, !KeychainItem.isSame(item.storedLabel, label, ignoringCase: ignoresCase) { return false }
        if let candidates, !candidates.contains(where: { $0.isItem(at: record.item.path, item) }) { return false }
        let isSynchronizable = item[.synchronizable] == .boolean(true)
        return synchronizable == .any || isSynchronizable == (synchronizable == .yes)
    }

    private static func isAskedFor(_ attribute: KeychainAttribute, _ value: KeychainValue, _ ignoresCase: Bool) -> Bool
    {
        // Items without the attribute match these, too, and providers cannot ignore case.
        guard attribute.kind != .boolean,
            attribute != .accessible || value != .text(Accessibility.whenUnlocked.rawValue),
            !(ignoresCase && [.text, .textOrData].contains(attribute.kind))
        else { return false }
        return !value.isEmpty || [.account, .service, .server].contains(attribute)
    }
}

extension SecretItemRecord {
    /// Whether its attributes are sealed, until the first unlock of its keychain.
    var isSealed: Bool { properties.isLocked && properties.attributes.isEmpty }
}

extension KeychainItem {
    /// The access group; that of the program for an item without one.
    func group(orProgram programGroup: String) -> String {
        if case .text(let group)? = self[.accessGroup] { group } else { programGroup }
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

    /// Throws ``errSecParam`` if the item has an access control and is marked for synchronisation, as Apple does.
    func checkSynchronizable() throws(StatusError) {
        guard self[.accessControl] == nil || self[.synchronizable] != .boolean(true) else {
            throw StatusError(errSecParam, "an item with an access control cannot be synchronised")
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
