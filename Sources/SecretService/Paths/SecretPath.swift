import DBus
import KeychainModel

/// What an object path of the Secret Service names (#3 – #11).
enum SecretPath: Hashable, Sendable {
    /// A node that only leads to others, with the path elements below it.
    case node(Node)
    case service
    case collection(CollectionReference)
    case item(CollectionReference, ItemID)
    case session(ObjectNumber)
    case prompt(ObjectNumber)

    enum Node: Hashable, Sendable {
        case root, org, freedesktop, collections, aliases, sessions, prompts
    }

    /// The two ways to name a collection.
    enum CollectionReference: Hashable, Sendable {
        case name(CollectionName)
        /// An alias, in the encoding that collection names have in paths.
        case alias(encoded: String)
    }

    static let base = "/org/freedesktop/secrets"

    /// Nil if the path names nothing that could exist here.
    init?(_ path: String) {
        guard path.hasPrefix(SecretPath.base) else {
            switch path {
            case "/": self = .node(.root)
            case "/org": self = .node(.org)
            case "/org/freedesktop": self = .node(.freedesktop)
            default: return nil
            }
            return
        }
        let elements = path.utf8.dropFirst(SecretPath.base.utf8.count)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        // The first is empty: it is what stands before the next slash, or a longer name than the base.
        guard let first = elements.first, first.isEmpty else { return nil }
        self.init(elements: elements.dropFirst().map { Substring($0) })
    }

    private init?(elements: [Substring]) {
        switch (elements.first, elements.count) {
        case (nil, _): self = .service
        case ("collection", 1): self = .node(.collections)
        case ("aliases", 1): self = .node(.aliases)
        case ("session", 1): self = .node(.sessions)
        case ("prompt", 1): self = .node(.prompts)
        case ("session", 2):
            guard let number = ObjectNumber(elements[1]) else { return nil }
            self = .session(number)
        case ("prompt", 2):
            guard let number = ObjectNumber(elements[1]) else { return nil }
            self = .prompt(number)
        case ("collection", 2...3):
            guard let name = CollectionName(encoded: elements[1]) else { return nil }
            self.init(.name(name), item: elements.dropFirst(2).first)
        case ("aliases", 2...3):
            self.init(.alias(encoded: String(elements[1])), item: elements.dropFirst(2).first)
        default: return nil
        }
    }

    private init?(_ collection: CollectionReference, item: Substring?) {
        guard let item else {
            self = .collection(collection)
            return
        }
        guard let id = ItemID(decimal: item) else { return nil }
        self = .item(collection, id)
    }

    /// Whether a path that leads nowhere is one where a collection or an item would be: its callers are told `NoSuchObject`.
    static func isInsideCollections(_ path: String) -> Bool {
        path.hasPrefix(base + "/collection/") || path.hasPrefix(base + "/aliases/")
    }
}

extension ObjectPath {
    static let service = ObjectPath(unchecked: SecretPath.base)

    static func collection(_ name: CollectionName) -> ObjectPath {
        ObjectPath(unchecked: "\(SecretPath.base)/collection/\(name.encoded)")
    }

    static func item(_ id: ItemID, in name: CollectionName) -> ObjectPath {
        ObjectPath(unchecked: "\(SecretPath.base)/collection/\(name.encoded)/\(id.rawValue)")
    }

    static func session(_ number: ObjectNumber) -> ObjectPath {
        ObjectPath(unchecked: "\(SecretPath.base)/session/\(number)")
    }

    static func prompt(_ number: ObjectNumber) -> ObjectPath {
        ObjectPath(unchecked: "\(SecretPath.base)/prompt/\(number)")
    }
}
