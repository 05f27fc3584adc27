import KeychaindDBus

/// A collection of items (a keyring), locked and unlocked together.
public struct SecretCollection: SecretObject {
    /// The client that found it.
    public let client: SecretClient

    /// Its object path on the bus.
    public let path: String

    /// The public part of a collection.
    public struct Properties: Hashable, Sendable {
        /// The label, for people.
        public var label: String
        /// Whether it is locked.
        public var isLocked: Bool
        /// The time of creation, in seconds since 1970.
        public var created: UInt64
        /// The time of the last change, in seconds since 1970.
        public var modified: UInt64
    }

    init(_ client: SecretClient, _ path: ObjectPath) {
        self.client = client
        self.path = path.rawValue
    }

    // MARK: Properties

    /// All properties except the items.
    public func properties() async throws(SecretServiceError) -> Properties {
        let values = try await client.properties(of: objectPath, Protocol.collection)
        return Properties(
            label: values.string("Label"),
            isLocked: values.boolean("Locked"),
            created: values.number("Created"),
            modified: values.number("Modified")
        )
    }

    /// The label, for people.
    public func label() async throws(SecretServiceError) -> String {
        try await client.property("Label", of: objectPath, Protocol.collection)
    }

    /// Whether it is locked.
    public func isLocked() async throws(SecretServiceError) -> Bool {
        try await client.property("Locked", of: objectPath, Protocol.collection)
    }

    /// Changes the label.
    public func setLabel(_ label: String) async throws(SecretServiceError) {
        try ArgumentCheck.check(label)
        try await client.setProperty("Label", of: objectPath, Protocol.collection, to: .string(label))
    }

    // MARK: Items

    /// All items, locked or not.
    public func items() async throws(SecretServiceError) -> [SecretItem] {
        let paths: [ObjectPath] = try await client.property("Items", of: objectPath, Protocol.collection)
        return paths.map { SecretItem(client, $0) }
    }

    /// The items, locked or not, with at least these attributes.
    public func search(_ attributes: [String: String]) async throws(SecretServiceError) -> [SecretItem] {
        try ArgumentCheck.check("", attributes)
        let message = Protocol.call(objectPath, Protocol.collection, "SearchItems", attributes)
        let paths = try await client.call(message).reading([ObjectPath].self)
        return paths.map { SecretItem(client, $0) }
    }

    /// Creates an item.
    ///
    /// Unlocks a locked collection first, which may ask a person.
    ///
    /// - Parameters:
    ///   - label: the label, for people.
    ///   - attributes: attributes to search by; not secret.
    ///   - secret: the secret.
    ///   - replacing: whether to change an existing item with the same attributes instead. For keychaind and oo7 that
    ///     is an item with equal attributes, for other providers one with at least these.
    ///   - prompting: how a person may be asked.
    @discardableResult
    public func createItem(
        label: String,
        attributes: [String: String],
        secret: borrowing Secret,
        replacing: Bool = false,
        prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) -> SecretItem {
        try await createItem(label, attributes, secret, prompting, interface: Protocol.collection) {
            $0.append(replacing)
        }
    }

    /// - Parameter appendRest: appends the arguments after the secret.
    func createItem(
        _ label: String,
        _ attributes: [String: String],
        _ secret: borrowing Secret,
        _ prompting: SecretPrompting,
        _ context: ProviderContext? = nil,
        interface: String,
        times: (created: UInt64?, modified: UInt64?) = (nil, nil),
        appendRest: (Message) -> Void
    ) async throws(SecretServiceError) -> SecretItem {
        try ArgumentCheck.check(label, attributes)
        try ArgumentCheck.check(secret.contentType)
        let path = objectPath
        let (reply, session) = try await client.unlocking(self, prompting) { (session) throws(SecretServiceError) in
            let message = Protocol.call(path, interface, "CreateItem")
            var properties: [String: Variant] = [
                "\(Protocol.item).Label": .string(label),
                "\(Protocol.item).Attributes": .stringDictionary(attributes),
            ]
            properties["\(Protocol.keychaindItem).Context"] = context.map { .objectPath($0.path) }
            properties["\(Protocol.keychaindItem).Created"] = times.created.map { .uint64($0) }
            properties["\(Protocol.keychaindItem).Modified"] = times.modified.map { .uint64($0) }
            message.append(properties)
            try session.append(secret, to: message)
            appendRest(message)
            return message
        }
        let (item, prompt) = try reply.reading(ObjectPath.self, ObjectPath.self)
        guard prompt != .root else { return SecretItem(client, item) }
        return SecretItem(client, try await client.complete(prompt, of: session.owner, prompting).path())
    }

    // MARK: Deleting

    /// Deletes the collection with its items; some providers ask a person.
    public func delete(prompting: SecretPrompting = .shown) async throws(SecretServiceError) {
        try await client.delete(objectPath, Protocol.collection, prompting)
    }
}

extension SecretCollection {
    /// Creates an item with the times of its original, in seconds since 1970, which other providers than keychaind
    /// ignore or refuse.
    package func createItem(
        label: String,
        attributes: [String: String],
        secret: borrowing Secret,
        created: UInt64?,
        modified: UInt64?,
        replacing: Bool,
        prompting: SecretPrompting
    ) async throws(SecretServiceError) -> SecretItem {
        let times = (created: created, modified: modified)
        let interface = Protocol.collection
        return try await createItem(label, attributes, secret, prompting, interface: interface, times: times) {
            $0.append(replacing)
        }
    }

    /// Creates an item unless another has the same values of some attributes.
    ///
    /// The provider guarantees it among concurrent programs. Throws ``SecretServiceError/Code/alreadyExists`` if there
    /// is one. Returns nil if the provider is not keychaind and does not support this.
    ///
    /// - Parameters:
    ///   - unique: the names of these attributes; an attribute that both items lack counts as equal.
    ///   - context: has the application password of the item; nil to ask a person if it needs one.
    package func createUniqueItem(
        label: String,
        attributes: [String: String],
        unique: [String],
        secret: borrowing Secret,
        context: ProviderContext? = nil,
        prompting: SecretPrompting
    ) async throws(SecretServiceError) -> SecretItem? {
        do throws(SecretServiceError) {
            let interface = Protocol.keychaindCollection
            return try await createItem(label, attributes, secret, prompting, context, interface: interface) {
                $0.append(false, unique)
            }
        } catch  where error.isOfMissingMethod {
            return nil
        }
    }
}
