import KeychaindDBus

/// The names of the Secret Service (spec #2, #3).
enum Protocol {
    static let service = "org.freedesktop.Secret.Service"
    static let collection = "org.freedesktop.Secret.Collection"
    static let item = "org.freedesktop.Secret.Item"
    static let session = "org.freedesktop.Secret.Session"
    static let prompt = "org.freedesktop.Secret.Prompt"

    static let keychaindCollection = "org.keychaind.Collection1"
    static let keychaindItem = "org.keychaind.Item1"
    static let key = "org.keychaind.Key1"
    static let keys = "org.keychaind.Keys1"
    static let context = "org.keychaind.Authentication1.Context"

    static let serviceObject = ObjectPath(unchecked: "/org/freedesktop/secrets")

    static let plain = "plain"

    /// The algorithm of an encrypted session (spec #26).
    static let diffieHellman = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    /// The properties of a new collection.
    static func collection(_ label: String) -> [String: Variant] { ["\(collection).Label": .string(label)] }

    /// The destination is set when the call is sent.
    static func call<each Value: BusValue>(
        _ path: ObjectPath,
        _ interface: String,
        _ member: String,
        _ arguments: repeat each Value
    ) -> Message {
        let message = Message.call(to: ProviderLink.providerName, path, interface, member)
        message.append(repeat each arguments)
        return message
    }
}

/// An interface of the only object that has it.
struct ProviderInterface: Sendable {
    let path: ObjectPath
    let name: String

    private init(_ name: String, _ path: String = "/org/freedesktop/secrets") {
        self.path = ObjectPath(unchecked: path)
        self.name = name
    }

    static let service = ProviderInterface(Protocol.service)
    /// gnome-keyring's interface that takes passwords without a prompt, which keychaind has, too.
    static let passwords = ProviderInterface("org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface")

    // keychaind's own.
    static let audit = ProviderInterface("org.keychaind.Audit1", "/org/keychaind/Audit")
    static let authentication = ProviderInterface("org.keychaind.Authentication1", "/org/keychaind/Authentication")
    static let backups = ProviderInterface("org.keychaind.Backups1", "/org/keychaind/Backups")
    static let portal = ProviderInterface("org.keychaind.Portal1", "/org/keychaind/Portal")
    static let rules = ProviderInterface("org.keychaind.Rules1", "/org/keychaind/Rules")
    static let sandboxes = ProviderInterface("org.keychaind.Sandboxes1", "/org/freedesktop/secrets/sandboxes")
    static let search = ProviderInterface("org.keychaind.Search1")

    func call<each Value: BusValue>(_ member: String, _ arguments: repeat each Value) -> Message {
        Protocol.call(path, name, member, repeat each arguments)
    }
}

/// Rejects arguments that D-Bus cannot carry, which libdbus would truncate or answer by ending the process.
enum ArgumentCheck {
    /// The limit for all texts of one call.
    static let maximumBytes = 16 << 20

    static func check(_ texts: some Sequence<String>) throws(SecretServiceError) {
        var count = 0
        for text in texts {
            count += text.utf8.count
            guard !text.utf8.contains(0) else {
                throw SecretServiceError(.invalidArguments, "a text contains a NUL character, which D-Bus cannot carry")
            }
        }
        guard count <= maximumBytes else {
            throw SecretServiceError(.limitExceeded, "the texts of \(count) bytes are larger than \(maximumBytes)")
        }
    }

    static func check(_ label: String, _ attributes: [String: String] = [:]) throws(SecretServiceError) {
        try check([label])
        try check(attributes.lazy.flatMap { [$0.key, $0.value] })
    }
}

extension Message {
    func reading<each Value: BusValue>(
        _ types: repeat (each Value).Type
    ) throws(SecretServiceError) -> (repeat each Value) {
        do throws(BusError) {
            return try read(repeat each types)
        } catch {
            throw SecretServiceError(reading: error)
        }
    }

    /// Reads an array of structures.
    func readingStructures<Element>(
        _ element: (inout Reader) throws(BusError) -> Element
    ) throws(SecretServiceError) -> [Element] {
        do throws(BusError) {
            var reader = makeReader()
            return try reader.readStructures(element)
        } catch {
            throw SecretServiceError(reading: error)
        }
    }
}

extension Reader {
    mutating func readStructures<Element>(
        _ element: (inout Reader) throws(BusError) -> Element
    ) throws(BusError) -> [Element] {
        var elements: [Element] = []
        try readArray { (reader) throws(BusError) in
            elements.append(try reader.readStructure { (reader) throws(BusError) in try element(&reader) })
        }
        return elements
    }
}

extension Variant {
    func path() throws(SecretServiceError) -> ObjectPath {
        guard case .objectPath(let path) = self, path != .root else {
            throw SecretServiceError(.invalidAnswer, "the prompt did not result in an object")
        }
        return path
    }

    func paths() throws(SecretServiceError) -> [ObjectPath] {
        guard case .objectPaths(let paths) = self else {
            throw SecretServiceError(.invalidAnswer, "the prompt did not result in a list of objects")
        }
        return paths
    }
}

/// Properties of an object; missing and mistyped ones count as empty, since providers leave out sealed ones (spec
/// #106).
extension [String: Variant] {
    func string(_ name: String) -> String {
        guard case .string(let value) = self[name] else { return "" }
        return value
    }

    func strings(_ name: String) -> [String]? {
        guard case .strings(let value) = self[name] else { return nil }
        return value
    }

    func dictionary(_ name: String) -> [String: String] {
        guard case .stringDictionary(let value) = self[name] else { return [:] }
        return value
    }

    func boolean(_ name: String) -> Bool {
        guard case .boolean(let value) = self[name] else { return false }
        return value
    }

    func number(_ name: String) -> UInt64 {
        guard case .uint64(let value) = self[name] else { return 0 }
        return value
    }
}
