import KeychaindDBus
import KeychaindKeys
import KeychaindModel
import KeychaindTestSupport

/// Calls of `org.keychaind.Key1` and `org.keychaind.Keys1`, as programs of other languages make them.
extension SecretServiceProxy {
    nonisolated static let keyInterface = "org.keychaind.Key1"
    nonisolated static let keysInterface = "org.keychaind.Keys1"

    /// The names of the attributes that make a key unique in Apple's API.
    static let keyNames = ["application-label", "application-tag", "key-class", "key-size", "key-type"]

    func generateKey(
        in collection: ObjectPath = SecretServiceProxy.defaultAlias,
        _ label: String = "key",
        _ attributes: [String: String] = [:],
        _ kind: KeyKind = .p256,
        unique: [String] = SecretServiceProxy.keyNames,
        options: [String: Variant] = [:]
    ) async throws(BusError) -> (item: ObjectPath, publicKey: [UInt8], prompt: ObjectPath) {
        let (item, publicKey, prompt) = try await call(
            collection,
            Self.keysInterface,
            "GenerateKey",
            Self.itemProperties(label: label, attributes),
            unique,
            kind.type.rawValue,
            UInt32(kind.bits),
            options
        ).read(ObjectPath.self, ByteArray.self, ObjectPath.self)
        return (item, publicKey.bytes, prompt)
    }

    func sign(
        _ data: [UInt8],
        with key: ObjectPath,
        _ algorithm: String = KeyKind.p256.signature
    ) async throws(BusError) -> [UInt8] {
        try await call(key, Self.keyInterface, "Sign", algorithm, ByteArray(data)).read(ByteArray.self).bytes
    }

    func decrypt(
        _ ciphertext: [UInt8],
        with key: ObjectPath,
        _ algorithm: String,
        session: ObjectPath
    ) async throws(BusError) -> [UInt8] {
        try await call(key, Self.keyInterface, "Decrypt", session, algorithm, ByteArray(ciphertext))
            .read(WireSecret.self).value
    }

    func agree(
        with publicKey: [UInt8],
        by key: ObjectPath,
        _ algorithm: String,
        _ parameters: [String: Variant] = [:],
        session: ObjectPath
    ) async throws(BusError) -> [UInt8] {
        try await call(key, Self.keyInterface, "Agree", session, algorithm, ByteArray(publicKey), parameters)
            .read(WireSecret.self).value
    }

    /// Stores a key as a program does that has it.
    func storeKey(
        _ key: KeyMaterial,
        _ attributes: [String: String] = [:],
        contentType: String = "application/octet-stream",
        session: ObjectPath
    ) async throws(BusError) -> ObjectPath {
        let own = ["xdg:schema": "org.keychaind.Key", "key-class": "private", "key-type": key.type.rawValue]
        let bytes = key.withExternalRepresentation { Array($0) }
        return try await createItem(
            properties: Self.itemProperties(label: "key", own.merging(attributes) { $1 }),
            secret: WireSecret(session: session, value: bytes, contentType: contentType)
        ).item
    }
}

/// A kind of key, with an algorithm for its signatures.
enum KeyKind: String, CaseIterable, Sendable {
    case p256, p384, p521, rsa2048

    var type: KeyType { self == .rsa2048 ? .rsa : .ec }

    var bits: Int {
        switch self {
        case .p256: 256
        case .p384: 384
        case .p521: 521
        case .rsa2048: 2048
        }
    }

    var signature: String {
        switch self {
        case .p256: "algid:sign:ECDSA:message-X962:SHA256"
        case .p384: "algid:sign:ECDSA:message-X962:SHA384"
        case .p521: "algid:sign:ECDSA:message-RFC4754:SHA512"
        case .rsa2048: "algid:sign:RSA:message-PSS:SHA256:SHA256:32"
        }
    }

    /// Whether a signature is one of the message by the key of this kind.
    func verifies(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) throws -> Bool {
        try KeyMaterial(publicKey, type: type, keyClass: .public)
            .verify(signature, of: message, KeyAlgorithm(rawValue: self.signature)!)
    }
}

/// The errors of keys under their D-Bus names.
extension BusError {
    static let accessDenied = BusError(ErrorName(rawValue: "org.freedesktop.DBus.Error.AccessDenied"), "")
    static let malformedKey = key("MalformedKey")
    static let unsupportedKey = key("UnsupportedKey")
    static let unsuitableAlgorithm = key("UnsuitableAlgorithm")
    static let invalidInput = key("InvalidInput")
    static let decryptionFailed = key("DecryptionFailed")
    static let tokenUnavailable = key("TokenUnavailable")
    static let foreignKey = key("ForeignKey")

    private static func key(_ name: String) -> BusError {
        BusError(ErrorName(rawValue: "org.keychaind.Key1.Error.\(name)"), "")
    }
}

/// The content types with a meaning to the service.
enum KeyContentType {
    static let privateKey = "application/x-keychaind-private-key"
    static let tpmKey = "application/x-keychaind-tpm-key"
}
