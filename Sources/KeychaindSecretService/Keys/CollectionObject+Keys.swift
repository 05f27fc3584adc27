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
        let key = try await items.keys.generate(request.type, bits: request.bits, for: client)
        let new = try request.item(with: key)
        let unique = try UniqueKey(of: new.description.attributes, names: request.unique)
        let (item, prompt) = try await store(new, ifUnique: unique)
        return (item, key.publicBytes ?? [], prompt)
    }
}

/// The arguments of `GenerateKey`.
struct KeyRequest {
    let description: ItemDescription
    let unique: [String]
    let type: KeyType
    let bits: Int
    private(set) var isExtractable = false

    private static let options = 16

    /// Throws `InvalidArgs` for an unknown type of key, and `NotSupported` for a token.
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
        try reader.readDictionary(limit: KeyRequest.options) { (reader) throws(BusError) in
            switch try String(from: &reader) {
            case "extractable":
                isExtractable = try reader.readVariant(of: Bool.self)
            case "token":
                throw BusError(.notSupported, "no token is available")
            default:
                reader.skip()
            }
        }
        self.isExtractable = isExtractable
    }

    /// The item of a generated key; the attributes that the key determines replace the requested ones.
    ///
    /// Throws `InvalidArgs` if the requested attributes are those of another class.
    func item(with key: KeyMaterial) throws(BusError) -> NewItem {
        let attributes = try description.attributes.describing(key, isExtractable: isExtractable)
        do throws(GcryptError) {
            let bytes = try key.withExternalRepresentation { (bytes) throws(GcryptError) in
                try SecureBytes(copying: bytes)
            }
            let contentType = isExtractable ? "application/octet-stream" : ReservedContentType.privateKey.rawValue
            return NewItem(
                description: ItemDescription(label: description.label, attributes: attributes),
                secret: Secret(bytes: bytes, contentType: contentType),
                replacing: false
            )
        } catch {
            throw BusError(error)
        }
    }
}

extension Attributes {
    /// The attributes of a private key, with those that the key determines; keeps an application label.
    fileprivate func describing(_ key: KeyMaterial, isExtractable: Bool) throws(BusError) -> Attributes {
        var item = KeychainItem(with([(Attributes.schema, self[Attributes.schema] ?? ItemClass.key.schema)]), label: "")
        guard item.itemClass == .key else {
            throw BusError(.invalidArguments, "the attributes are those of another class of items")
        }
        var values: [KeychainAttribute: KeychainValue] = [
            .keyClass: .text(KeyClass.private.code), .keyType: .text(key.type.code),
            .keySize: .number(Int64(key.bits)), .effectiveKeySize: .number(Int64(key.bits)),
            .isExtractable: .boolean(isExtractable),
        ]
        values[.publicKey] = key.publicBytes.map(KeychainValue.data)
        do throws(KeyError) {
            if item[.applicationLabel] == nil {
                values[.applicationLabel] = try key.publicKeyHash().map(KeychainValue.data)
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
