import KeychaindDBus
import KeychaindGcrypt

/// `org.keychaind.Key1`, an interface of keychaind alone: the use of a private key that stays in the provider.
///
/// The calls return nil from a provider without the interface. A locked item fails with
/// ``SecretServiceError/Code/locked``; shows no dialog.
extension SecretItem {
    /// The most bytes that keychaind signs or decrypts.
    package static let maximumKeyData = 16 << 20

    /// Signs data with an algorithm, by Apple's identifier.
    package func sign(_ data: [UInt8], algorithm: String) async throws(SecretServiceError) -> [UInt8]? {
        try SecretItem.check(data)
        let message = Protocol.call(objectPath, Protocol.key, "Sign", algorithm, ByteArray(data))
        return try await SecretItem.ifSupported { () throws(SecretServiceError) in
            try await client.call(message).reading(ByteArray.self).bytes
        }
    }

    package func decrypt(_ ciphertext: [UInt8], algorithm: String) async throws(SecretServiceError) -> Secret? {
        try SecretItem.check(ciphertext)
        return try await call("Decrypt") { $0.append(algorithm, ByteArray(ciphertext)) }
    }

    /// Agrees on a secret with the owner of a public key.
    ///
    /// - Parameter size: the size of the secret in bytes; nil for an algorithm without a choice.
    package func agree(
        with publicKey: [UInt8],
        algorithm: String,
        size: Int?,
        sharedInfo: [UInt8]
    ) async throws(SecretServiceError) -> Secret? {
        try SecretItem.check(publicKey + sharedInfo)
        var parameters: [String: Variant] = [:]
        parameters["requestedSize"] = size.map { .uint32(UInt32(clamping: $0)) }
        if !sharedInfo.isEmpty { parameters["sharedInfo"] = .bytes(ByteArray(sharedInfo)) }
        return try await call("Agree") { [parameters] in $0.append(algorithm, ByteArray(publicKey), parameters) }
    }

    /// Calls a method that returns a secret.
    private func call(
        _ member: String,
        _ append: @Sendable (Message) -> Void
    ) async throws(SecretServiceError) -> Secret? {
        let path = objectPath
        return try await SecretItem.ifSupported { () throws(SecretServiceError) -> Secret in
            let (reply, session) = try await client.unlocking(self, .never) { (session) throws(SecretServiceError) in
                let message = Protocol.call(path, Protocol.key, member, session.path)
                append(message)
                return message
            }
            defer { reply.wipeByteArrays() }
            var reader = reply.makeReader()
            return try session.read(&reader)
        }
    }

    private static func check(_ data: [UInt8]) throws(SecretServiceError) {
        guard data.count <= maximumKeyData else {
            throw SecretServiceError(.limitExceeded, "the data has more than \(maximumKeyData) bytes")
        }
    }

    static func ifSupported<Value: ~Copyable>(
        _ operation: () async throws(SecretServiceError) -> Value
    ) async throws(SecretServiceError) -> Value? {
        do throws(SecretServiceError) {
            return try await operation()
        } catch  where error.isOfMissingMethod {
            return nil
        }
    }
}

/// `org.keychaind.Keys1`, an interface of keychaind alone.
extension SecretCollection {
    /// A private key to generate in the provider.
    package struct NewKey: Sendable {
        package var label: String
        package var attributes: [String: String]

        /// The names of the attributes that no other item may have with the same values.
        package var unique: [String]

        /// The type and the size in bits, as in the key's attributes.
        package var type: String
        package var bits: Int

        /// Whether programs may read the key.
        package var isExtractable: Bool

        /// The device that makes and holds the key, such as `tpm`; nil for the provider itself.
        package var token: String?

        package init(
            label: String,
            attributes: [String: String],
            unique: [String],
            type: String,
            bits: Int,
            isExtractable: Bool,
            token: String? = nil
        ) {
            self.label = label
            self.attributes = attributes
            self.unique = unique
            self.type = type
            self.bits = bits
            self.isExtractable = isExtractable
            self.token = token
        }
    }

    /// Whether the provider can use keys that it never releases.
    package func usesKeys() async throws(SecretServiceError) -> Bool {
        do throws(SecretServiceError) {
            let _: [String] = try await client.property("Tokens", of: objectPath, Protocol.keys)
            return true
        } catch  where error.mayBeOfMissingInterface || error.code == .providerFailed {
            return false
        }
    }

    /// Generates a private key in the provider; unlocks a locked collection first.
    ///
    /// Returns the item and the public key; nil from a provider without the interface.
    package func generateKey(
        _ key: NewKey,
        prompting: SecretPrompting
    ) async throws(SecretServiceError) -> (item: SecretItem, publicKey: [UInt8])? {
        try ArgumentCheck.check(key.label, key.attributes)
        try ArgumentCheck.check(key.unique + [key.type])
        let path = objectPath
        let properties: [String: Variant] = [
            "\(Protocol.item).Label": .string(key.label),
            "\(Protocol.item).Attributes": .stringDictionary(key.attributes),
        ]
        var options = ["extractable": Variant.boolean(key.isExtractable)]
        options["token"] = key.token.map { .string($0) }
        let called = try await SecretItem.ifSupported { () throws(SecretServiceError) in
            try await client.unlocking(self, prompting) { [options] (_) throws(SecretServiceError) in
                let message = Protocol.call(path, Protocol.keys, "GenerateKey")
                message.append(properties, key.unique, key.type, UInt32(clamping: key.bits), options)
                return message
            }
        }
        guard let (reply, session) = called else { return nil }
        let (item, publicKey, prompt) = try reply.reading(ObjectPath.self, ByteArray.self, ObjectPath.self)
        guard prompt != .root else { return (SecretItem(client, item), publicKey.bytes) }
        let made = try await client.complete(prompt, of: session.owner, prompting).path()
        return (SecretItem(client, made), publicKey.bytes)
    }
}
