import Foundation
import KeychainModel
import SecretServiceClient

/// A query of the `SecItem` functions, read and checked.
struct ItemQuery: Sendable {
    /// How many items to find.
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

    /// What to do where a person would have to be asked.
    enum Interaction: Sendable {
        case ask
        case fail
        case skip
    }

    /// What to give of each item.
    struct Returns: OptionSet, Sendable {
        let rawValue: Int

        static let data = Returns(rawValue: 1)
        static let attributes = Returns(rawValue: 2)
        static let reference = Returns(rawValue: 4)
        static let persistentReference = Returns(rawValue: 8)
    }

    var itemClass: ItemClass?
    /// Whether it is about identities, which are no class of items.
    var isIdentity = false
    var values: [KeychainAttribute: KeychainValue] = [:]
    var label: String?
    /// When the items were made and last changed, in seconds since 1970; what is added or changed has its dates from the provider.
    var created: Double?
    var modified: Double?
    /// Whether an access control is named that asks for nothing: what has it is without one.
    var isUnconstrained = false
    var synchronizable: ItemSearch.Synchronizable?
    var ignoresCase = false
    var limit: Limit?
    var returns: Returns = []
    var interaction = Interaction.ask
    /// Why a person is asked, in the program's words.
    var operationPrompt = ""
    /// The program's own authentication, if there is one.
    var context: (any AuthenticationSnapshot)?
    var data: [UInt8]?
    var reference: PersistentReference?
    /// The key, certificate or identity that the query names.
    var object: ReferencedObject?

    /// Whether keys of the query are ones that only a search has.
    var hasSearchParameters: Bool { limit != nil || !returns.isEmpty }

    /// Whether a person may be asked.
    var mayAsk: Bool { interaction == .ask && context?.isInteractionAllowed != false }

    /// How a person may be asked.
    var prompting: SecretPrompting { mayAsk ? SecretPrompting(timeout: KeychainBus.promptTimeout) : .never }

    /// Whether what it wants of an item of a class takes the secret: keys and certificates are handed out as what they are.
    func needsSecret(of itemClass: ItemClass?) -> Bool {
        returns.contains(.data) || returns.contains(.reference) && (itemClass == .key || itemClass == .certificate)
    }

    /// Whether what it wants of an item of a class takes the attributes.
    func needsAttributes(of itemClass: ItemClass?) -> Bool {
        returns.contains(.attributes) || returns.contains(.reference) && itemClass == .key
    }

    /// What to search for.
    func search() throws(StatusError) -> ItemSearch {
        guard let itemClass else { throw StatusError(errSecParam, "the query names no class") }
        return try ItemSearch(self, of: itemClass)
    }

    /// What to store.
    func item() throws(StatusError) -> KeychainItem {
        guard let itemClass else { throw StatusError(errSecParam, "the query names no class") }
        guard synchronizable != .any else { throw StatusError(errSecParam, "an item is synchronised or it is not") }
        var item = KeychainItem(itemClass)
        item.label = label
        // Always there, so that they can be searched for when they are empty.
        for attribute in [.account, .service, .server] as [KeychainAttribute] where itemClass.has(attribute) {
            try item.setChecked(attribute, .text(""))
        }
        for (attribute, value) in values {
            try item.setChecked(attribute, attribute.isLeftOut(in: itemClass, value) ? nil : value)
        }
        try item.setChecked(.synchronizable, .boolean(synchronizable == .yes))
        do throws(AccessControlError) {
            _ = try Protection(of: item.attributes)
        } catch {
            throw StatusError(errSecParam, error.reason)
        }
        return item
    }

    /// Checks that every attribute is one that items of the class have.
    func checkAttributes() throws(StatusError) {
        let classes: [ItemClass] = isIdentity ? [.certificate, .key] : itemClass.map { [$0] } ?? ItemClass.allCases
        for attribute in values.keys where !classes.contains(where: { $0.has(attribute) }) {
            throw StatusError(errSecNoSuchAttr, "items of the class have no \(attribute.rawValue)")
        }
    }
}
