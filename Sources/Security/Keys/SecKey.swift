#if Keys
public import Foundation
import KeychaindKeys
import KeychaindModel

/// A cryptographic key: imported, generated, or found in the keychain.
public final class SecKey: Hashable, Sendable {
    /// Where the key is.
    enum Storage: Sendable {
        /// In the process.
        case material(KeyMaterial, KeyProperties)
        /// In the keychain.
        case stored(StoredKey)
    }

    let storage: Storage

    /// The item that it was read from, if any.
    let reference: PersistentReference?

    init(_ storage: Storage, _ reference: PersistentReference? = nil) {
        self.storage = storage
        self.reference = reference
    }

    convenience init(
        _ material: KeyMaterial,
        _ properties: KeyProperties = KeyProperties(),
        _ reference: PersistentReference? = nil
    ) {
        self.init(.material(material, properties), reference)
    }

    convenience init(_ key: StoredKey) {
        self.init(.stored(key), key.reference)
    }

    /// Compares the keys, not their items.
    public static func == (left: SecKey, right: SecKey) -> Bool {
        if case .material(let left, _) = left.storage, case .material(let right, _) = right.storage {
            return left == right
        }
        return left.type == right.type && left.keyClass == right.keyClass && left.publicBytes == right.publicBytes
    }

    /// Hashes the key.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(keyClass)
        hasher.combine(publicBytes)
    }
}

extension SecKey: CustomStringConvertible {
    /// The kind of key, without its bytes.
    public var description: String {
        "\(keyClass.rawValue) key, \(type.rawValue), \(bits) bits"
    }
}

extension SecKey {
    var type: KeyType {
        switch storage {
        case .material(let material, _): material.type
        case .stored(let key): key.type
        }
    }

    var keyClass: KeyClass {
        switch storage {
        case .material(let material, _): material.keyClass
        case .stored: .private
        }
    }

    /// The size in bits; for elliptic curves, that of the field.
    var bits: Int {
        switch storage {
        case .material(let material, _): material.bits
        case .stored(let key): key.bits
        }
    }

    /// The public key of a private or public key; nil for a symmetric key.
    var publicKey: KeyMaterial? {
        switch storage {
        case .material(let material, _): material.publicKey
        case .stored(let key): key.publicKey
        }
    }

    /// The external representation of the public key; nil for a symmetric key.
    var publicBytes: [UInt8]? {
        switch storage {
        case .material(let material, _): material.publicBytes
        case .stored(let key): key.publicKey.publicBytes
        }
    }

    /// The attributes by which its items are found.
    func values() throws(StatusError) -> [KeychainAttribute: KeychainValue] {
        switch storage {
        case .material(let material, _): try material.values()
        case .stored(let key): try key.values()
        }
    }

    /// The attributes of a new item: also the properties of its creation.
    func itemProperties() -> KeyProperties {
        switch storage {
        case .material(_, let properties): properties
        case .stored(let key): KeyProperties(of: key.item)
        }
    }

    /// The bytes of the key for a new item, extractable or not.
    ///
    /// Throws ``errSecDuplicateItem`` for a key that is in the keychain and cannot be copied.
    func itemBytes() throws(StatusError) -> [UInt8] {
        switch storage {
        case .material(let material, _):
            return material.bytes
        case .stored(let key):
            guard key.isExtractable else {
                throw StatusError(errSecDuplicateItem, "the key is in the keychain and cannot be copied")
            }
            return try key.externalRepresentation()
        }
    }

    /// The external representation; throws ``errSecUnimplemented`` for a key that cannot be exported.
    func externalRepresentation() throws(StatusError) -> [UInt8] {
        switch storage {
        case .material(let material, let properties):
            guard properties.isExtractable else {
                throw StatusError(errSecUnimplemented, "the key cannot be exported")
            }
            return material.bytes
        case .stored(let key):
            return try key.externalRepresentation()
        }
    }
}

/// The external representation of a key: PKCS #1 for RSA, ANSI X9.63 for elliptic curves.
///
/// - Parameters:
///   - key: the key.
///   - error: receives an error; ``errSecUnimplemented`` for a key that cannot be exported.
/// - Returns: nil on error.
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) { () throws(StatusError) in Data(try key.externalRepresentation()) as NSData }
}

/// The attributes of a key: type, class and sizes, the hash of the public key as ``kSecAttrApplicationLabel``, what the
/// key can do, and those given at its creation, such as ``kSecAttrApplicationTag``.
///
/// The external representation is in ``kSecValueData`` if it can be exported from this process.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    guard var values = try? key.values() else { return nil }
    let properties = key.itemProperties()
    values.merge(KeyProperties.usages(of: key.keyClass)) { $1 }
    values.merge(properties.values) { $1 }
    values[.isPermanent] = .boolean(key.reference != nil)
    values[.isExtractable] = .boolean(properties.isExtractable)
    var attributes: [String: Any] = [kSecClass as String: kSecClassKey]
    for (attribute, value) in values {
        if let code = attribute.code { attributes[code] = value.object }
    }
    attributes[kSecAttrAccessible as String] = values.accessibility?.code as NSString?
    attributes[kSecAttrAccessControl as String] = values.secAccessControl
    attributes[kSecAttrLabel as String] = properties.label
    if case .material(let material, let properties) = key.storage, properties.isExtractable {
        attributes[kSecValueData as String] = Data(material.bytes) as NSData
    }
    return attributes as NSDictionary
}

/// The public key of a private or public key; nil for a symmetric key.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    key.publicKey.map { SecKey($0) }
}

/// The block size in bytes: the modulus of RSA, a coordinate of elliptic curves.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int {
    (key.bits + 7) / 8
}

/// Creates a key from its external representation.
///
/// - Parameters:
///   - keyData: PKCS #1 for RSA, ANSI X9.63 for elliptic curves. A public key of RSA may also be in the form that
///     certificates have, as Apple accepts it.
///   - attributes: ``kSecAttrKeyType`` and ``kSecAttrKeyClass``. ``kSecAttrKeySizeInBits`` is ignored, as by Apple:
///     many programs give another size than that of the key.
///   - error: receives an error with ``errSecDecode``, ``errSecParam`` or ``errSecUnimplemented``.
/// - Returns: nil on error.
public func SecKeyCreateWithData(
    _ keyData: CFData,
    _ attributes: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    reporting(to: error) { () throws(StatusError) in
        let query = try ItemQuery(attributes, keysOf: .key)
        guard let type = query.keyType, let keyClass = query.keyClass else {
            throw StatusError(errSecParam, "the attributes have no type and class")
        }
        guard query.values[.token] == nil else {
            throw StatusError(errSecUnimplemented, "a token makes its keys itself: SecKeyCreateRandomKey")
        }
        var bytes = keyData.contents
        if type == .rsa, keyClass == .public, let key = SubjectPublicKeyInfo.rsaKey(bytes) { bytes = key }
        let material = try KeyMaterial(checking: bytes, type: type, keyClass: keyClass)
        return SecKey(material, KeyProperties(of: query))
    }
}

extension ItemQuery {
    /// Reads attributes without a class as those of a class.
    init(_ attributes: CFDictionary, keysOf itemClass: ItemClass) throws(StatusError) {
        do {
            try self.init(attributes, of: itemClass)
        } catch {
            // The functions for keys know no "no such attribute".
            throw error.status == errSecNoSuchAttr ? StatusError(errSecParam, error.reason) : error
        }
        guard self.itemClass == nil || self.itemClass == itemClass, limit == nil, reference == nil, object == nil else {
            throw StatusError(errSecParam, "the attributes are not those of a key")
        }
        self.itemClass = itemClass
        // Many programs request a persistent reference, which Apple's functions for keys ignore.
        returns = []
        try checkAttributes()
    }
}
#endif
