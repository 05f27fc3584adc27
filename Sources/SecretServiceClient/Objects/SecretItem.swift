import DBus

/// An item: a secret, attributes to find it by, and a label for people.
public struct SecretItem: SecretObject {
    /// The client through which it was found.
    public let client: SecretClient

    /// Its path on the bus.
    public let path: String

    /// What a provider tells of an item without giving its secret.
    public struct Properties: Hashable, Sendable {
        /// What people see.
        public var label: String
        /// What programs find it by; not secret.
        public var attributes: [String: String]
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

    /// Everything but the secret; what a provider keeps to itself while the item is locked is empty.
    public func properties() async throws(SecretServiceError) -> Properties {
        let values = try await client.properties(of: objectPath, Protocol.item)
        return Properties(
            label: values.string("Label"),
            attributes: values.dictionary("Attributes"),
            isLocked: values.boolean("Locked"),
            created: values.number("Created"),
            modified: values.number("Modified")
        )
    }

    /// What people see.
    public func label() async throws(SecretServiceError) -> String {
        try await client.property("Label", of: objectPath, Protocol.item)
    }

    /// What programs find it by.
    public func attributes() async throws(SecretServiceError) -> [String: String] {
        try await client.property("Attributes", of: objectPath, Protocol.item)
    }

    /// Whether it is locked.
    public func isLocked() async throws(SecretServiceError) -> Bool {
        try await client.property("Locked", of: objectPath, Protocol.item)
    }

    /// Changes what people see.
    public func setLabel(_ label: String) async throws(SecretServiceError) {
        try ArgumentCheck.check(label)
        try await client.setProperty("Label", of: objectPath, Protocol.item, to: .string(label))
    }

    /// Replaces all attributes.
    public func setAttributes(_ attributes: [String: String]) async throws(SecretServiceError) {
        try ArgumentCheck.check("", attributes)
        try await client.setProperty("Attributes", of: objectPath, Protocol.item, to: .stringDictionary(attributes))
    }

    // MARK: The secret

    /// Reads the secret.
    ///
    /// A locked item is unlocked first, for which a person may have to be asked; with ``SecretPrompting/never`` it fails with
    /// ``SecretServiceError/Code/locked`` or ``SecretServiceError/Code/interactionNotAllowed``.
    public func secret(prompting: SecretPrompting = .shown) async throws(SecretServiceError) -> Secret {
        let (reply, session) = try await client.unlocking(self, prompting) { (session) throws(SecretServiceError) in
            let message = Protocol.call(objectPath, Protocol.item, "GetSecret")
            message.append(session.path)
            return message
        }
        defer { reply.wipeByteArrays() }
        var reader = reply.makeReader()
        return try session.read(&reader)
    }

    /// Changes the secret, and unlocks the item before if it is locked.
    public func setSecret(
        _ secret: borrowing Secret,
        prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) {
        try ArgumentCheck.check(secret.contentType)
        let path = objectPath
        _ = try await client.unlocking(self, prompting) { (session) throws(SecretServiceError) in
            let message = Protocol.call(path, Protocol.item, "SetSecret")
            try session.append(secret, to: message)
            return message
        }
    }

    // MARK: The end

    /// Deletes the item; some providers ask.
    public func delete(prompting: SecretPrompting = .shown) async throws(SecretServiceError) {
        try await client.delete(objectPath, Protocol.item, prompting)
    }
}
