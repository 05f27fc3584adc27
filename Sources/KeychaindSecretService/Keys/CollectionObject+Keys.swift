import KeychaindDBus
import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel
import KeychaindVault

/// The interface `Keys1`: makes keys in the service.
extension CollectionObject {
    @BusActor static let keysInterface = Interface<CollectionObject>(
        InterfaceName.keys,
        methods: [
            Method(
                suspending: "GenerateKey",
                in: [
                    Parameter("properties", [String: Variant].self), Parameter("unique", [String].self),
                    Parameter("type", String.self), Parameter("bits", UInt32.self),
                    Parameter("options", [String: Variant].self),
                ],
                out: [
                    Parameter("item", ObjectPath.self), Parameter("publicKey", ByteArray.self),
                    Parameter("prompt", ObjectPath.self),
                ]
            ) { (object, call) async throws(BusError) in
                let (item, publicKey, prompt) = try await object.generateKey(call)
                call.reply(with: item, ByteArray(publicKey), prompt)
            }
        ],
        properties: [
            Property("Tokens", [String].self, changes: .never, get: { _ in KeyTokenName.allCases.map(\.rawValue) })
        ]
    )

    @BusActor
    private func generateKey(
        _ call: MethodCall
    ) async throws(BusError) -> (item: ObjectPath, publicKey: [UInt8], prompt: ObjectPath) {
        let request = try KeyRequest(from: call)
        // Before the generation, which costs most.
        guard !collection.isLocked else { throw BusError(.isLocked, "the collection is locked") }
        try Items.checkProtection(in: request.description.attributes)
        let key = try await items.keys.generate(
            request.type,
            bits: request.bits,
            inToken: request.token != nil,
            for: client
        )
        let publicKey = key.publicKey
        let new = try request.item(with: key)
        let unique = try UniqueKey(of: new.description.attributes, names: request.unique)
        let (item, prompt) = try await store(new, ifUnique: unique)
        return (item, publicKey, prompt)
    }
}

/// The arguments of `GenerateKey`.
struct KeyRequest {
    let description: ItemDescription
    let unique: [String]
    let type: KeyType
    let bits: Int
    private(set) var isExtractable = false
    /// The device for the key; nil for a key that the service can use itself.
    private(set) var token: KeyTokenName?

    private static let options = 16

    /// Throws `InvalidArgs` for an unknown type of key and for a key of a token that is extractable, `NotSupported` for
    /// an unknown token.
    @BusActor
    init(from call: MethodCall) throws(BusError) {
        var reader = call.message.makeReader()
        description = try ItemDescription(from: &reader)
        unique = try UniqueKey.readNames(&reader)
        guard let type = KeyType(rawValue: try String(from: &reader)) else {
            throw BusError(.invalidArguments, "the type of key is unknown")
        }
        self.type = type
        bits = Int(try UInt32(from: &reader))
        var isExtractable = false
        var token: KeyTokenName?
        try reader.readDictionary(limit: KeyRequest.options) { (reader) throws(BusError) in
            switch try String(from: &reader) {
            case "extractable":
                isExtractable = try reader.readVariant(of: Bool.self)
            case "token":
                token = KeyTokenName(rawValue: try reader.readVariant(of: String.self))
                guard token != nil else { throw BusError(.notSupported, "the token is unknown") }
            default:
                reader.skip()
            }
        }
        guard token == nil || !isExtractable else {
            throw BusError(.invalidArguments, "a key of a token cannot be extractable")
        }
        self.isExtractable = isExtractable
        self.token = token
    }

    /// The item of a generated key; the attributes that the key determines replace the requested ones.
    ///
    /// Throws `InvalidArgs` if the requested attributes are those of another class.
    func item(with key: consuming GeneratedKey) throws(BusError) -> CreationRequest {
        let attributes = try description.attributes.describing(key, isExtractable: isExtractable, token: token)
        let contentType =
            isExtractable
            ? "application/octet-stream"
            : (token == nil ? ReservedContentType.privateKey : .tpmKey).rawValue
        return try CreationRequest(
            description: ItemDescription(label: description.label, attributes: attributes),
            secret: Secret(bytes: key.takeSecret(), contentType: contentType),
            replacing: false
        )
    }
}

extension Attributes {
    /// The attributes of a private key, with those that the key determines; keeps an application label.
    fileprivate func describing(
        _ key: borrowing GeneratedKey,
        isExtractable: Bool,
        token: KeyTokenName?
    ) throws(BusError) -> Attributes {
        let schema = self[Attributes.schema] ?? ItemClass.key.schema
        var item = KeychainItem(setting(Attributes.schema, to: schema), label: "")
        guard item.itemClass == .key else {
            throw BusError(.invalidArguments, "the attributes are those of another class of items")
        }
        var values: [KeychainAttribute: KeychainValue?] = [
            .keyClass: .text(KeyClass.private.code), .keyType: .text(key.type.code),
            .keySize: .number(Int64(key.bits)), .effectiveKeySize: .number(Int64(key.bits)),
            .isExtractable: .boolean(isExtractable), .publicKey: .data(key.publicKey),
            .token: token.map { .text($0.code) },
        ]
        do throws(GcryptError) {
            if item[.applicationLabel] == nil {
                values[.applicationLabel] = .data(try HashFunction.sha1.digest(of: key.publicKey))
            }
        } catch {
            throw BusError(error)
        }
        do throws(AccessControlError) {
            for (attribute, value) in values { try item.set(attribute, to: value) }
        } catch {
            throw BusError(.invalidArguments, error.reason)
        }
        return item.attributes
    }
}

/// A new private key, and what its item says about it.
struct GeneratedKey: ~Copyable, Sendable {
    let type: KeyType
    let bits: Int
    let publicKey: [UInt8]
    private let secret: SecureBytes

    init(_ key: KeyMaterial) throws(KeyError) {
        let secret: SecureBytes
        do throws(GcryptError) {
            secret = try key.withExternalRepresentation { (bytes) throws(GcryptError) in
                try SecureBytes(copying: bytes)
            }
        } catch {
            throw KeyError(error)
        }
        type = key.type
        bits = key.bits
        publicKey = key.publicBytes ?? []
        self.secret = secret
    }

    init(_ key: TokenKey) throws(KeyError) {
        secret = try key.stored()
        type = key.type
        bits = key.bits
        publicKey = key.publicKey
    }

    /// The secret of its item.
    consuming func takeSecret() -> SecureBytes { secret }
}
