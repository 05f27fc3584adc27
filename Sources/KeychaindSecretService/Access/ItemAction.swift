import KeychaindDesktop
import KeychaindLanguage
import KeychaindVault

/// An operation that a program requests on an item; an approval covers only this one.
enum ItemAction: Hashable {
    /// Reads the secret.
    case use

    /// Stores a new item in its place.
    case replace

    /// Stores a new item with another protection in its place.
    case replaceWithProtection

    case changeSecret

    case rename(String)

    /// Sets the attributes, and the label if given.
    case changeAttributes(name: String?)

    /// Changes the protection, and the label if given.
    case changeProtection(name: String?)

    /// Removes the access control, and sets the label if given.
    case removeProtection(name: String?)

    /// Changes the content in one or several calls, as authorised in a context.
    case change

    /// Changes content and protection, as authorised in a context.
    case changeWithProtection

    case delete

    /// The text of the action in a dialog.
    ///
    /// - Parameter names: the items, each in quotation marks.
    func text(_ names: Text) -> Text {
        // Translators: the actions follow "git wants to"; the argument is a list of items, such as “Bank”, “Mail”
        switch self {
        case .use: Text("use \(names)")
        case .replace: Text("replace \(names)")
        case .replaceWithProtection: Text("replace \(names) and change who may use it")
        case .changeSecret: Text("replace the secret of \(names)")
        case .rename(let name): Text("rename \(names) to “\(PromptText.name(name))”")
        case .changeAttributes(let name): Self.renaming(Text("change the attributes of \(names)"), name)
        case .changeProtection(let name): Self.renaming(Text("change who may use \(names)"), name)
        case .removeProtection(let name): Self.renaming(Text("take the protection off \(names)"), name)
        case .change: Text("change \(names)")
        case .changeWithProtection: Text("change \(names) and who may use it")
        case .delete: Text("delete \(names)")
        }
    }

    private static func renaming(_ action: Text, _ name: String?) -> Text {
        // Translators: an action, such as "change the attributes of “Bank”"
        name.map { Text("\(action) and rename it to “\(PromptText.name($0))”") } ?? action
    }

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

/// Parts of a protected item that an operation changes.
struct ItemParts: OptionSet, Hashable {
    let rawValue: UInt8

    static let secret = ItemParts(rawValue: 1)
    static let label = ItemParts(rawValue: 2)
    static let attributes = ItemParts(rawValue: 4)
    /// Access control and accessibility.
    static let protection = ItemParts(rawValue: 8)
    /// The existence of the item.
    static let existence = ItemParts(rawValue: 16)

    /// Everything stored in the item, without its protection.
    static let content: ItemParts = [.secret, .label, .attributes]
}
