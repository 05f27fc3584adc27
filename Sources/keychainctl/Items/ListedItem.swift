import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

/// An item with what a list shows of it.
struct ListedItem: Sendable {
    let item: SecretItem
    let properties: SecretItem.Properties
    /// The label of its keychain.
    let keychain: String

    /// The last two parts of the path, which name it for `--id`.
    var id: String {
        let path = item.path
        guard let last = path.utf8.lastIndex(of: ListedItem.slash),
            let start = path.utf8[..<last].lastIndex(of: ListedItem.slash)
        else { return path }
        return String(path[path.utf8.index(after: start)...])
    }

    static let collectionsPath = "/org/freedesktop/secrets/collection/"

    /// The path of an item that a person named by its place or by its path.
    static func path(of id: String) -> String { id.hasPrefix("/") ? id : collectionsPath + id }

    /// Paths are searched by bytes: characters cost ten times as much, and a list has thousands of paths.
    private static let slash = UInt8(ascii: "/")

    /// Whether the provider hides what the item is, as keychaind does before the first unlock.
    var isHidden: Bool { ListedItem.isHidden(properties) }

    static func isHidden(_ properties: SecretItem.Properties) -> Bool {
        properties.isLocked && properties.label.isEmpty && properties.attributes.isEmpty
    }

    var isProtected: Bool { ExportProtection(properties.attributes).isProtected }

    /// The path of its collection.
    var collectionPath: String { ListedItem.collectionPath(of: item) }

    static func collectionPath(of item: SecretItem) -> String {
        String(item.path[..<(item.path.utf8.lastIndex(of: slash) ?? item.path.startIndex)])
    }

    // MARK: For people and programs

    static let titles = [Text("ID"), Text("LABEL"), Text("KEYCHAIN"), Text("STATE"), Text("ATTRIBUTES")]

    var row: [String] {
        [id.visible, properties.label.visible, keychain.visible, state, attributeText]
    }

    var state: String {
        switch (isHidden, isProtected, properties.isLocked) {
        case (true, _, _): ListedItem.locked
        case (_, true, _): ListedItem.protected
        case (_, _, true): ListedItem.locked
        default: ListedItem.open
        }
    }

    // Rendered once: lists have thousands of rows.
    private static let locked = Text("locked", context: "a keychain or an item").cell
    private static let protected = Text("protected", context: "a keychain or an item").cell
    private static let open = Text("open", context: "a keychain or an item").cell

    private var attributeText: String {
        var text = ""
        for (name, value) in properties.attributes.sorted(by: { $0.key < $1.key }) {
            if !text.isEmpty { text += " " }
            text += name.visible
            text += "="
            text += value.visible
        }
        return text
    }

    /// The members of a JSON object, without braces.
    var json: String {
        var json = "\"id\": "
        JSON.append(id, to: &json)
        json += ", \"path\": "
        JSON.append(item.path, to: &json)
        json += ", \"keychain\": "
        JSON.append(keychain, to: &json)
        json += ", \"label\": "
        JSON.append(properties.label, to: &json)
        json += ", \"attributes\": "
        JSON.append(properties.attributes, to: &json)
        json += ", \"locked\": \(properties.isLocked), \"protected\": \(isProtected)"
        json += ", \"created\": \(properties.created), \"modified\": \(properties.modified)"
        return json
    }
}
