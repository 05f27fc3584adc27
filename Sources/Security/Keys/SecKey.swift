public import Foundation
import KeychaindKeys
import KeychaindModel

/// A cryptographic key: imported, generated, or found in the keychain.
public final class SecKey: Hashable, Sendable {
    /// Where the key is.
    enum Storage: Sendable {
        /// In the process.
        case material(KeyMaterial, KeyProperties)
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

    /// Compares the keys, not their items.
    public static func == (left: SecKey, right: SecKey) -> Bool {
        switch (left.storage, right.storage) {
        case (.material(let left, _), .material(let right, _)): left == right
        }
    }

    /// Hashes the key.
    public func hash(into hasher: inout Hasher) {
        switch storage {
        case .material(let material, _): hasher.combine(material)
        }
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
        }
    }

    var keyClass: KeyClass {
        switch storage {
        case .material(let material, _): material.keyClass
        }
    }

    /// The size in bits; for elliptic curves, that of the field.
    var bits: Int {
        switch storage {
        case .material(let material, _): material.bits
        }
    }

    /// The public key of a private or public key; nil for a symmetric key.
    var publicKey: KeyMaterial? {
        switch storage {
        case .material(let material, _): material.publicKey
        }
    }

    /// The attributes by which its items are found.
    func values() throws(StatusError) -> [KeychainAttribute: KeychainValue] {
        switch storage {
        case .material(let material, _): try material.values()
        }
    }

    /// The attributes of a new item: also the properties of its creation.
    func itemProperties() -> KeyProperties {
        switch storage {
        case .material(_, let properties): properties
        }
    }

    /// The bytes of the key for a new item, extractable or not.
    func itemBytes() throws(StatusError) -> [UInt8] {
        switch storage {
        case .material(let material, _): material.bytes
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
///   - keyData: PKCS #1 for RSA, ANSI X9.63 for elliptic curves.
///   - attributes: ``kSecAttrKeyType`` and ``kSecAttrKeyClass``; ``kSecAttrKeySizeInBits`` must match if present.
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
        let material = try KeyMaterial(checking: [UInt8](keyData as Data), type: type, keyClass: keyClass)
        if let size = query.values[.keySize], size != .number(Int64(material.bits)) {
            throw StatusError(errSecParam, "the size of the key differs from kSecAttrKeySizeInBits")
        }
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
        guard self.itemClass == nil || self.itemClass == itemClass, !hasSearchParameters, reference == nil,
            object == nil
        else { throw StatusError(errSecParam, "the attributes are not those of a key") }
        self.itemClass = itemClass
        try checkAttributes()
    }

    /// The type of key.
    var keyType: KeyType? {
        guard case .text(let code)? = values[.keyType] else { return nil }
        return KeyType(code: code)
    }

    /// The class of key.
    var keyClass: KeyClass? {
        guard case .text(let code)? = values[.keyClass] else { return nil }
        return KeyClass(code: code)
    }
}
