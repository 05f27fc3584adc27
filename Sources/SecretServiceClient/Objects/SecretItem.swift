import KeychaindDBus

/// An item: a secret, attributes to search by, and a label for people.
public struct SecretItem: SecretObject {
    /// The client that found it.
    public let client: SecretClient

    /// Its object path on the bus.
    public let path: String

    /// The public part of an item.
    public struct Properties: Hashable, Sendable {
        /// The label, for people.
        public var label: String
        /// The attributes to search by; not secret.
        public var attributes: [String: String]
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

    /// All properties except the secret; empty where the provider hides them while the item is locked.
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

    /// The label, for people.
    public func label() async throws(SecretServiceError) -> String {
        try await client.property("Label", of: objectPath, Protocol.item)
    }

    /// The attributes to search by.
    public func attributes() async throws(SecretServiceError) -> [String: String] {
        try await client.property("Attributes", of: objectPath, Protocol.item)
    }

    /// Whether it is locked.
    public func isLocked() async throws(SecretServiceError) -> Bool {
        try await client.property("Locked", of: objectPath, Protocol.item)
    }

    /// Changes the label.
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
    /// Unlocks a locked item first, which may ask a person. With ``SecretPrompting/never`` a locked item fails with
    /// ``SecretServiceError/Code/locked`` or ``SecretServiceError/Code/interactionNotAllowed``.
    public func secret(prompting: SecretPrompting = .shown) async throws(SecretServiceError) -> Secret {
        let (reply, session) = try await client.unlocking(self, prompting) { (session) throws(SecretServiceError) in
            return Protocol.call(objectPath, Protocol.item, "GetSecret", session.path)
        }
        defer { reply.wipeByteArrays() }
        var reader = reply.makeReader()
        return try session.read(&reader)
    }

    /// Changes the secret; unlocks a locked item first.
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

    // MARK: Deleting

    /// Deletes the item; some providers ask a person.
    public func delete(prompting: SecretPrompting = .shown) async throws(SecretServiceError) {
        try await client.delete(objectPath, Protocol.item, prompting)
    }
}

extension SecretItem {
    /// Changes label, attributes and secret in one step, as far as they are given; unlocks a locked item first.
    ///
    /// Returns false if the provider is not keychaind and does not support this. Throws
    /// ``SecretServiceError/Code/alreadyExists`` if another item of the collection has the same values of the unique
    /// attributes, which the provider guarantees among concurrent programs.
    ///
    /// - Parameters:
    ///   - attributes: all attributes.
    ///   - unique: the names of the unique attributes; one that both items lack counts as equal.
    package func change(
        label: String?,
        attributes: [String: String]?,
        unique: [String] = [],
        secret: borrowing Secret,
        prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) -> Bool {
        try ArgumentCheck.check(secret.contentType)
        let properties = try Self.properties(label, attributes, unique)
        let path = objectPath
        do throws(SecretServiceError) {
            _ = try await client.unlocking(self, prompting) { (session) throws(SecretServiceError) in
                let message = Protocol.call(path, Protocol.keychaindItem, "Change", properties)
                try session.append(secret, to: message, asList: true)
                return message
            }
            return true
        } catch  where error.isOfMissingMethod {
            return false
        }
    }

    /// Changes label and attributes in one step, as far as they are given.
    package func change(
        label: String?,
        attributes: [String: String]?,
        unique: [String] = []
    ) async throws(SecretServiceError) -> Bool {
        let properties = try Self.properties(label, attributes, unique)
        let message = Protocol.call(objectPath, Protocol.keychaindItem, "Change", properties)
        message.write { writer in writer.writeArray(of: "(oayays)") { _ in } }
        do throws(SecretServiceError) {
            _ = try await client.call(message)
            return true
        } catch  where error.isOfMissingMethod {
            return false
        }
    }

    private static func properties(
        _ label: String?,
        _ attributes: [String: String]?,
        _ unique: [String]
    ) throws(SecretServiceError) -> [String: Variant] {
        try ArgumentCheck.check(label ?? "", attributes ?? [:])
        try ArgumentCheck.check(unique)
        var properties: [String: Variant] = [:]
        properties[Protocol.item + ".Label"] = label.map(Variant.string)
        properties[Protocol.item + ".Attributes"] = attributes.map(Variant.stringDictionary)
        if !unique.isEmpty { properties[Protocol.keychaindItem + ".Unique"] = .strings(unique) }
        return properties
    }
}
