import Authentication
import DBus
import Desktop
import Vault

/// What a program wants of an item; a person's yes is for this and nothing else.
enum ItemAction: Hashable {
    /// To read its secret.
    case use

    /// To store something else in its place.
    case replace

    /// The same, under another protection.
    case replaceWithProtection

    /// To give it another secret.
    case changeSecret

    /// To give it another name.
    case rename(String)

    /// To give it other attributes, and another name if that is said.
    case changeAttributes(name: String?)

    /// To change who may have it.
    case changeProtection(name: String?)

    /// To take its access control off.
    case removeProtection(name: String?)

    /// To change what is in it, in one call or several, as a context asks for that.
    case change

    /// To change what is in it, and who may have it, likewise.
    case changeWithProtection

    /// To delete it.
    case delete

    /// The action in a dialog's words.
    ///
    /// - Parameter names: the items, each in quotation marks.
    func text(_ names: String) -> String {
        switch self {
        case .use: "use \(names)"
        case .replace: "replace \(names)"
        case .replaceWithProtection: "replace \(names) and change who may use it"
        case .changeSecret: "replace the secret of \(names)"
        case .rename(let name): "rename \(names) to “\(PromptText.name(name))”"
        case .changeAttributes(let name): "change the attributes of \(names)" + Self.renaming(name)
        case .changeProtection(let name): "change who may use \(names)" + Self.renaming(name)
        case .removeProtection(let name): "take the protection off \(names)" + Self.renaming(name)
        case .change: "change \(names)"
        case .changeWithProtection: "change \(names) and who may use it"
        case .delete: "delete \(names)"
        }
    }

    private static func renaming(_ name: String?) -> String {
        name.map { " and rename it to “\(PromptText.name($0))”" } ?? ""
    }

    /// What it changes of the item.
    var parts: ItemParts {
        switch self {
        case .use: []
        case .replace, .change: .content
        case .replaceWithProtection, .changeWithProtection: [.content, .protection]
        case .changeSecret: .secret
        case .rename: .label
        case .changeAttributes(let name): name == nil ? .attributes : [.attributes, .label]
        case .changeProtection(let name), .removeProtection(let name):
            name == nil ? [.attributes, .protection] : [.attributes, .protection, .label]
        case .delete: .existence
        }
    }

    /// An authentication for it, in the audit.
    var audited: AuditEntry.Kind {
        switch self {
        case .use: .authentication
        case .replace, .changeSecret, .rename, .changeAttributes, .change: .authenticationToChange
        case .replaceWithProtection, .changeProtection, .removeProtection, .changeWithProtection:
            .authenticationToProtect
        case .delete: .authenticationToDelete
        }
    }
}

/// What of a protected item an operation changes.
struct ItemParts: OptionSet, Hashable {
    let rawValue: UInt8

    static let secret = ItemParts(rawValue: 1)
    static let label = ItemParts(rawValue: 2)
    static let attributes = ItemParts(rawValue: 4)
    /// Who may have it.
    static let protection = ItemParts(rawValue: 8)
    /// That it is there.
    static let existence = ItemParts(rawValue: 16)

    /// All that is in it, and not who may have it.
    static let content: ItemParts = [.secret, .label, .attributes]
}

/// A person's permission for one operation on one protected item, as it was when they were asked.
///
/// It is used at once, or kept by the context in which it was asked for; it is never in the table of grants, and nobody reads by it.
struct ItemAuthorization {
    /// The item; in another state than this it is not changed.
    var item: ProtectedItem

    /// What opens it, if it is sealed; wiped with the last reference.
    let key: ItemKey?

    /// What may be done, each once.
    var parts: ItemParts

    /// Where the rest of it is kept; nil if it serves for one call alone.
    let context: AuthenticationContext?
}

extension ItemAuthorization? {
    /// Lets the context keep what is left of it, after some of it was used: for the item as that has left it, and not if the
    /// protection is another by now.
    @BusActor
    func keepRest(after used: ItemParts) {
        guard var rest = self, let context = rest.context else { return }
        rest.parts.subtract(used)
        guard !rest.parts.intersection([.content, .existence]).isEmpty, !used.contains(.protection) else { return }
        rest.item = rest.item.current
        context.restore(rest)
    }
}
