import DBus

/// A collection of items, which are locked and unlocked together: a keyring.
public struct SecretCollection: SecretObject {
    /// The client through which it was found.
    public let client: SecretClient

    /// Its path on the bus.
    public let path: String

    /// What a provider tells of a collection.
    public struct Properties: Hashable, Sendable {
        /// What people see.
        public var label: String
        /// Whether it is locked.
        public var isLocked: Bool
        /// When it was made, in seconds since 1970.
        public var created: UInt64
        /// When it was last changed, in seconds since 1970.
        public var modified: UInt64
    }

    init(_ client: SecretClient, _ path: ObjectPath) {
        self.client = client
        self.path = path.rawValue
    }

    // MARK: Properties

    /// Everything but the items.
    public func properties() async throws(SecretServiceError) -> Properties {
        let values = try await client.properties(of: objectPath, Protocol.collection)
        return Properties(
            label: values.string("Label"),
            isLocked: values.boolean("Locked"),
            created: values.number("Created"),
            modified: values.number("Modified")
        )
    }

    /// What people see.
    public func label() async throws(SecretServiceError) -> String {
        try await client.property("Label", of: objectPath, Protocol.collection)
    }

    /// Whether it is locked.
    public func isLocked() async throws(SecretServiceError) -> Bool {
        try await client.property("Locked", of: objectPath, Protocol.collection)
    }

    /// Changes what people see.
    public func setLabel(_ label: String) async throws(SecretServiceError) {
        try ArgumentCheck.check(label)
        try await client.setProperty("Label", of: objectPath, Protocol.collection, to: .string(label))
    }

    // MARK: Items

    /// Every item, locked or not.
    public func items() async throws(SecretServiceError) -> [SecretItem] {
        let paths: [ObjectPath] = try await client.property("Items", of: objectPath, Protocol.collection)
        return paths.map { SecretItem(client, $0) }
    }

    /// The items that have all of these attributes, and perhaps others, locked or not.
    public func search(_ attributes: [String: String]) async throws(SecretServiceError) -> [SecretItem] {
        try ArgumentCheck.check("", attributes)
        let message = Protocol.call(objectPath, Protocol.collection, "SearchItems")
        message.append(attributes)
        let paths = try await client.call(message).reading([ObjectPath].self)
        return paths.map { SecretItem(client, $0) }
    }

    /// Makes an item; a locked collection is unlocked first, for which a person may have to be asked.
    ///
    /// - Parameters:
    ///   - label: what people see.
    ///   - attributes: what programs find it by; not secret.
    ///   - secret: what it keeps.
    ///   - replacing: changes an item with the same attributes instead, if there is one. What "the same" is differs between
    ///     providers: keychaind and oo7 ask for no more and no fewer, others take an item that has at least these.
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

    /// Calls `CreateItem` of one of the interfaces that have it.
    ///
    /// - Parameter appendRest: appends what comes after the secret.
    func createItem(
        _ label: String,
        _ attributes: [String: String],
        _ secret: borrowing Secret,
        _ prompting: SecretPrompting,
        interface: String,
        appendRest: (Message) -> Void
    ) async throws(SecretServiceError) -> SecretItem {
        try ArgumentCheck.check(label, attributes)
        try ArgumentCheck.check(secret.contentType)
        let path = objectPath
        let (reply, session) = try await client.unlocking(self, prompting) { (session) throws(SecretServiceError) in
            let message = Protocol.call(path, interface, "CreateItem")
            message.append(
                [
                    "\(Protocol.item).Label": .string(label),
                    "\(Protocol.item).Attributes": .stringDictionary(attributes),
                ]
                    as [String: Variant]
            )
            try session.append(secret, to: message)
            appendRest(message)
            return message
        }
        let (item, prompt) = try reply.reading(ObjectPath.self, ObjectPath.self)
        guard prompt != .root else { return SecretItem(client, item) }
        return SecretItem(client, try await client.complete(prompt, of: session.owner, prompting).path())
    }

    // MARK: The end

    /// Deletes the collection and every item in it; some providers ask.
    public func delete(prompting: SecretPrompting = .shown) async throws(SecretServiceError) {
        try await client.delete(objectPath, Protocol.collection, prompting)
    }
}
