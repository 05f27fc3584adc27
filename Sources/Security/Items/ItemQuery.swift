import Foundation
import KeychaindModel
import SecretServiceClient

/// A checked query of a `SecItem` function.
struct ItemQuery: Sendable {
    /// The maximum number of results.
    enum Limit: Sendable {
        case one
        case all
        case count(Int)

        var count: Int {
            switch self {
            case .one: 1
            case .all: .max
            case .count(let count): count
            }
        }
    }

    /// How to handle items for which a person must be asked.
    enum Interaction: Sendable {
        case ask
        case fail
        case skip
    }

    /// The requested parts of each item.
    struct Returns: OptionSet, Sendable {
        let rawValue: Int

        static let data = Returns(rawValue: 1)
        static let attributes = Returns(rawValue: 2)
        static let reference = Returns(rawValue: 4)
        static let persistentReference = Returns(rawValue: 8)
    }

    var itemClass: ItemClass?
    /// Whether the query is for identities, which are not a class of items.
    var isIdentity = false
    var values: [KeychainAttribute: KeychainValue] = [:]
    var label: String?
    /// Whether the label was given as data.
    var isLabelData = false
    /// The access group of the calling program.
    var programGroup = ProgramGroup.current
    /// The dates in seconds since 1970, for searching; the provider sets them.
    var created: Double?
    var modified: Double?
    /// Whether the query has an access control without constraints, which matches items without one.
    var isUnconstrained = false
    var synchronizable: ItemSearch.Synchronizable?
    var ignoresCase = false
    var limit: Limit?
    var returns: Returns = []
    var interaction = Interaction.ask
    /// The program's reason for asking a person.
    var operationPrompt = ""
    /// The program's authentication context, if any.
    var context: (any AuthenticationSnapshot)?
    /// The context whose settings are in the snapshot.
    var contextSource: (any AuthenticationContextSource)?
    var data: [UInt8]?
    var reference: PersistentReference?
    /// The key, certificate or identity in the query.
    var object: ReferencedObject?
    /// The only items to consider; nil for all.
    var candidates: [ListedItem]?
    /// Conditions on certificates, also those of identities.
    var conditions = CertificateConditions()

    /// Whether the query has keys that only searches use.
    var hasSearchParameters: Bool { limit != nil || !returns.isEmpty }

    /// Whether the query has keys that say which items match, apart from their attributes.
    var hasMatchConditions: Bool { ignoresCase || candidates != nil || !conditions.isEmpty }

    /// The conditions on the contents of certificates, if the class has them.
    var contentConditions: CertificateConditions? {
        itemClass == .certificate && !conditions.isEmpty ? conditions : nil
    }

    /// Whether a person may be asked.
    var mayAsk: Bool { interaction == .ask && context?.isInteractionAllowed != false }

    /// How a person may be asked.
    var prompting: SecretPrompting { mayAsk ? SecretPrompting(timeout: KeychainBus.promptTimeout) : .never }

    /// How a person may be asked when a key that the query finds is used.
    var authentication: KeyAuthentication {
        KeyAuthentication(context: contextSource, interaction: interaction, operationPrompt: operationPrompt)
    }

    /// Whether the search is to return secrets: all matches need them.
    var needsAllSecrets: Bool {
        returns.contains(.data) || contentConditions != nil
            || returns.contains(.reference) && itemClass == .certificate
    }

    /// Whether the requested parts need the secret: certificates are made from it, and keys that are not used in the
    /// keychain.
    func needsSecret(of match: Match) -> Bool {
        if returns.contains(.data) || contentConditions != nil { return true }
        guard returns.contains(.reference) else { return false }
        return switch itemClass(of: match) {
        case .certificate: true
        case .key: match.record.map { KeychainItem($0.properties) }?.isStoredKey != true
        default: false
        }
    }

    /// Whether the requested parts need the attributes.
    func needsAttributes(of itemClass: ItemClass?) -> Bool {
        returns.contains(.attributes) || returns.contains(.reference) && itemClass == .key
    }

    /// The search for the items.
    func search() throws(StatusError) -> ItemSearch {
        guard let itemClass else { throw StatusError(errSecParam, "the query has no class") }
        return try ItemSearch(self, of: itemClass)
    }

    /// The item to store.
    func item() throws(StatusError) -> KeychainItem {
        guard let itemClass else { throw StatusError(errSecParam, "the query has no class") }
        guard synchronizable != .any else {
            throw StatusError(errSecParam, "kSecAttrSynchronizableAny is only for searches")
        }
        var item = KeychainItem(itemClass)
        item.label = label
        item.isLabelData = isLabelData
        // Stored even if empty, so that searches can find them.
        for attribute in [.account, .service, .server] as [KeychainAttribute] where itemClass.has(attribute) {
            try item.setChecked(attribute, .text(""))
        }
        for (attribute, value) in values {
            try item.setChecked(attribute, attribute.isOmitted(in: itemClass, value) ? nil : value)
        }
        try item.setChecked(.synchronizable, .boolean(synchronizable == .yes))
        if item[.accessGroup] == nil { try item.setChecked(.accessGroup, .text(programGroup)) }
        do throws(AccessControlError) {
            _ = try Protection(of: item.attributes)
        } catch {
            throw StatusError(errSecParam, error.reason)
        }
        try item.checkSynchronizable()
        return item
    }

    /// Checks that items of the class have every attribute.
    func checkAttributes() throws(StatusError) {
        let classes: [ItemClass] = isIdentity ? [.certificate, .key] : itemClass.map { [$0] } ?? ItemClass.allCases
        for attribute in values.keys where !classes.contains(where: { $0.has(attribute) }) {
            throw StatusError(errSecNoSuchAttr, "items of the class have no attribute \(attribute.rawValue)")
        }
    }
}

extension ItemQuery {
    /// The item to add, with the bytes and attributes of the query's key or certificate.
    func addition() throws(StatusError) -> (item: KeychainItem, query: ItemQuery) {
        guard values[.token] == nil else {
            throw StatusError(errSecParam, "a key cannot be moved into a token; SecKeyCreateRandomKey makes it there")
        }
        var query = self
        try query.takeContents()
        return (try query.item(), query)
    }

    /// The query with its object replaced by its attributes, or by the item that it was read from.
    func located() throws(StatusError) -> ItemQuery {
        guard let object else { return self }
        var query = self
        query.object = nil
        query.reference = object.reference
        if query.reference == nil { try query.take(object.values()) }
        return query
    }

    /// Adds computed attributes, which must equal those of the query; only the application label may differ.
    mutating func take(_ computed: [KeychainAttribute: KeychainValue]) throws(StatusError) {
        for (attribute, value) in computed {
            guard let own = values[attribute], own != value else {
                values[attribute] = value
                continue
            }
            guard attribute == .applicationLabel else {
                throw StatusError(errSecParam, "the \(attribute.rawValue) of the data differs from the query")
            }
        }
    }
}
