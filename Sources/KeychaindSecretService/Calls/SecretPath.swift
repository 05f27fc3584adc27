import Glibc
import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// The object that a path of the Secret Service names (#3 – #11).
enum SecretPath: Hashable, Sendable {
    case node(Node)
    case service
    case collection(CollectionReference)
    case item(CollectionReference, ItemID)
    case session(ObjectNumber)
    case prompt(ObjectNumber)
    case audit
    case authentication
    case backups
    case portal
    case sandboxes
    case rules
    case context(ObjectNumber)

    enum Node: Hashable, Sendable {
        case root, org, freedesktop, keychaind, collections, aliases, sessions, prompts, contexts
    }

    /// A collection by name or by alias.
    enum CollectionReference: Hashable, Sendable {
        case name(CollectionName)
        /// An alias, encoded as collection names are in paths.
        case alias(encoded: String)
    }

    static let base = "/org/freedesktop/secrets"

    /// Nil if the path names no possible object.
    init?(_ path: ObjectPath) {
        var text = path.rawValue
        guard let parsed = text.withUTF8({ SecretPath(bytes: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = parsed
    }

    init?(cString path: UnsafePointer<CChar>) {
        self.init(bytes: UnsafeRawBufferPointer(start: path, count: strlen(path)))
    }

    init?(bytes: UnsafeRawBufferPointer) {
        var scanner = PathScanner(bytes)
        guard scanner.skip("/org/freedesktop/secrets") else {
            self.init(outside: bytes)
            return
        }
        if scanner.isAtEnd {
            self = .service
        } else if scanner.skip("/collection") {
            self.init(&scanner, under: .collections)
        } else if scanner.skip("/aliases") {
            self.init(&scanner, under: .aliases)
        } else if scanner.skip("/sandboxes") {
            guard scanner.isAtEnd else { return nil }
            self = .sandboxes
        } else if scanner.skip("/session") {
            self.init(&scanner, under: .sessions)
        } else if scanner.skip("/prompt") {
            self.init(&scanner, under: .prompts)
        } else {
            return nil
        }
    }

    /// Parses paths outside of the service.
    private init?(outside bytes: UnsafeRawBufferPointer) {
        var scanner = PathScanner(bytes)
        if scanner.skip("/org/keychaind/Authentication") {
            if scanner.isAtEnd {
                self = .authentication
            } else if scanner.skip("/context") {
                self.init(&scanner, under: .contexts)
            } else {
                return nil
            }
            return
        }
        switch String(decoding: bytes, as: UTF8.self) {
        case "/": self = .node(.root)
        case "/org": self = .node(.org)
        case "/org/freedesktop": self = .node(.freedesktop)
        case "/org/keychaind": self = .node(.keychaind)
        case "/org/keychaind/Audit": self = .audit
        case "/org/keychaind/Backups": self = .backups
        case "/org/keychaind/Portal": self = .portal
        case "/org/keychaind/Rules": self = .rules
        default: return nil
        }
    }

    private init?(_ scanner: inout PathScanner, under node: Node) {
        guard !scanner.isAtEnd else {
            self = .node(node)
            return
        }
        guard scanner.skip("/") else { return nil }
        let element = scanner.nextElement()
        switch node {
        case .sessions:
            guard scanner.isAtEnd, let number = ObjectNumber(element) else { return nil }
            self = .session(number)
        case .prompts:
            guard scanner.isAtEnd, let number = ObjectNumber(element) else { return nil }
            self = .prompt(number)
        case .contexts:
            guard scanner.isAtEnd, let number = ObjectNumber(element) else { return nil }
            self = .context(number)
        case .collections:
            guard let name = CollectionName(encoded: String(decoding: element, as: UTF8.self)) else { return nil }
            self.init(.name(name), item: &scanner)
        case .aliases:
            self.init(.alias(encoded: String(decoding: element, as: UTF8.self)), item: &scanner)
        case .root, .org, .freedesktop, .keychaind:
            return nil
        }
    }

    private init?(_ collection: CollectionReference, item scanner: inout PathScanner) {
        guard !scanner.isAtEnd else {
            self = .collection(collection)
            return
        }
        guard let id = ItemID(decimal: scanner.nextElement()), scanner.isAtEnd else { return nil }
        self = .item(collection, id)
    }

    /// Whether the error of an unknown path is `NoSuchObject`.
    static func isInsideCollections(_ path: String) -> Bool {
        path.hasPrefix(base + "/collection/") || path.hasPrefix(base + "/aliases/")
    }
}

extension ObjectPath {
    static let service = ObjectPath(unchecked: SecretPath.base)

    static let sandboxes = ObjectPath(unchecked: "\(SecretPath.base)/sandboxes")

    static let backups = ObjectPath(unchecked: "/org/keychaind/Backups")

    static let rules = ObjectPath(unchecked: "/org/keychaind/Rules")

    static func collection(_ name: CollectionName) -> ObjectPath {
        ObjectPath(joining: SecretPath.base, "/collection/", name.encoded)
    }

    static func item(_ id: ItemID, in name: CollectionName) -> ObjectPath {
        ObjectPath(joining: SecretPath.base, "/collection/", name.encoded, "/", String(id.rawValue))
    }

    /// Takes a third of the time of an interpolation.
    private init(joining parts: String...) {
        var path = ""
        path.reserveCapacity(parts.reduce(0) { $0 + $1.utf8.count })
        for part in parts { path += part }
        self.init(unchecked: path)
    }

    static func session(_ number: ObjectNumber) -> ObjectPath {
        ObjectPath(unchecked: "\(SecretPath.base)/session/\(number)")
    }

    static func context(_ number: ObjectNumber) -> ObjectPath {
        ObjectPath(unchecked: "/org/keychaind/Authentication/context/\(number)")
    }

    static func prompt(_ number: ObjectNumber) -> ObjectPath {
        ObjectPath(unchecked: "\(SecretPath.base)/prompt/\(number)")
    }
}

/// The path element of an alias, encoded as labels are in collection names (#10).
enum AliasElement {
    static func encode(_ alias: String) -> String { LabelEncoding.encode(alias) }

    /// The aliases that an element can mean: itself, as clients write simple names, and its decoding.
    static func decodings(of element: String) -> [String] {
        var bytes: [UInt8] = []
        var rest = Substring(element).utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "_") else {
                bytes.append(byte)
                continue
            }
            guard let value = UInt8(String(Substring(rest.prefix(2))), radix: 16), rest.count >= 2 else {
                return [element]
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self), decoded != element else { return [element] }
        return [element, decoded]
    }
}

/// Scans an object path in place, as every call needs it.
struct PathScanner {
    private var rest: UnsafeRawBufferPointer.SubSequence

    init(_ path: UnsafeRawBufferPointer) {
        rest = path[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Skips a text if it comes next.
    mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard rest.count >= count, memcmp(rest.base.baseAddress! + rest.startIndex, text.utf8Start, count) == 0 else {
            return false
        }
        rest = rest.dropFirst(count)
        return true
    }

    /// Returns the bytes up to the next slash or the end, and skips the slash.
    mutating func nextElement() -> UnsafeRawBufferPointer {
        let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        let element = UnsafeRawBufferPointer(rebasing: rest[rest.startIndex..<end])
        rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
        return element
    }
}

extension Vault {
    func find(_ reference: SecretPath.CollectionReference) -> Collection? {
        switch reference {
        case .name(let name): collection(named: name)
        case .alias(let element):
            AliasElement.decodings(of: element).lazy.compactMap { self.collection(forAlias: $0) }.first
        }
    }

    /// The lockable object at a path: a collection, or an item in one.
    func findLockable(_ path: ObjectPath) -> (Collection, ItemID?)? {
        switch SecretPath(path) {
        case .collection(let reference):
            return find(reference).map { ($0, nil) }
        case .item(let reference, let id):
            guard let collection = find(reference), collection.contains(id) else { return nil }
            return (collection, id)
        default:
            return nil
        }
    }

    func findItem(_ path: ObjectPath) -> (Collection, ItemID)? {
        guard let (collection, id) = findLockable(path), let id else { return nil }
        return (collection, id)
    }

    var collectionPaths: [ObjectPath] {
        collections.map { .collection($0.name) }
    }
}
