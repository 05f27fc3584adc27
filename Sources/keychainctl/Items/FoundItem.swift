import KeychaindCommandLine
import SecretServiceClient

/// An item with what a list shows of it.
struct FoundItem: Sendable {
    let item: SecretItem
    let properties: SecretItem.Properties
    /// The label of its keychain.
    let keychain: String

    /// The last two parts of the path, which name it for `--id`.
    var id: String {
        item.path.split(separator: "/").suffix(2).joined(separator: "/")
    }

    /// Whether the provider hides what the item is, as keychaind does before the first unlock.
    var isHidden: Bool { FoundItem.isHidden(properties) }

    static func isHidden(_ properties: SecretItem.Properties) -> Bool {
        properties.isLocked && properties.label.isEmpty && properties.attributes.isEmpty
    }

    var isProtected: Bool { ExportProtection(properties.attributes).isProtected }

    /// The path of its collection.
    var collectionPath: String { FoundItem.collectionPath(of: item) }

    static func collectionPath(of item: SecretItem) -> String {
        item.path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    }

    // MARK: For people and programs

    static let titles = ["ID", "LABEL", "KEYCHAIN", "STATE", "ATTRIBUTES"]

    var row: [String] {
        [id.visible, properties.label.visible, keychain.visible, state, attributeText]
    }

    var state: String {
        switch (isHidden, isProtected, properties.isLocked) {
        case (true, _, _): "locked"
        case (_, true, _): "protected"
        case (_, _, true): "locked"
        default: "open"
        }
    }

    private var attributeText: String {
        let pairs = properties.attributes.sorted { $0.key < $1.key }
        return pairs.map { "\($0.key.visible)=\($0.value.visible)" }.joined(separator: " ")
    }

    /// The members of a JSON object, without braces.
    var json: String {
        "\"id\": \(JSON.string(id)), \"path\": \(JSON.string(item.path)), \"keychain\": \(JSON.string(keychain)), "
            + "\"label\": \(JSON.string(properties.label)), \"attributes\": \(JSON.object(properties.attributes)), "
            + "\"locked\": \(properties.isLocked), \"protected\": \(isProtected), "
            + "\"created\": \(properties.created), \"modified\": \(properties.modified)"
    }
}
