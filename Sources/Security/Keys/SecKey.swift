public import Foundation
import KeychaindKeys
import KeychaindModel

/// A cryptographic key: imported, generated, or found in the keychain.
///
/// For signing and encrypting, pass its external representation to a library such as swift-crypto.
public final class SecKey: Hashable, Sendable {
    let material: KeyMaterial

    /// The item that it was read from, if any.
    let reference: PersistentReference?

    init(_ material: KeyMaterial, _ reference: PersistentReference? = nil) {
        self.material = material
        self.reference = reference
    }

    /// Compares the keys, not their items.
    public static func == (left: SecKey, right: SecKey) -> Bool {
        left.material == right.material
    }

    /// Hashes the key.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(material)
    }
}

extension SecKey: CustomStringConvertible {
    /// The kind of key, without its bytes.
    public var description: String {
        "\(material.keyClass.rawValue) key, \(material.type.rawValue), \(material.bits) bits"
    }
}

/// The external representation of a key: PKCS #1 for RSA, ANSI X9.63 for elliptic curves.
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    Data(key.material.bytes) as NSData
}

/// The public attributes of a key: type, class, sizes, and the hash of the public key as ``kSecAttrApplicationLabel``.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    guard let values = try? key.material.values() else { return nil }
    var attributes: [String: Any] = [
        kSecClass as String: kSecClassKey, kSecAttrIsPermanent as String: NSNumber(value: key.reference == nil ? 0 : 1),
    ]
    for (attribute, value) in values {
        if let code = attribute.code { attributes[code] = value.object }
    }
    return attributes as NSDictionary
}

/// The public key of a private or public key; nil for a symmetric key.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    key.material.publicKey.map { SecKey($0) }
}

/// The block size in bytes: the modulus of RSA, a coordinate of elliptic curves.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int {
    (key.material.bits + 7) / 8
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
        return SecKey(material)
    }
}

/// Generates a private key.
///
/// - Parameters:
///   - parameters: ``kSecAttrKeyType`` and ``kSecAttrKeySizeInBits``: RSA of 2048, 3072 or 4096 bits, elliptic curves
///     of 256, 384 or 521. The key is stored if ``kSecAttrIsPermanent`` in ``kSecPrivateKeyAttrs`` is true, with the
///     attributes there; the public key likewise with ``kSecPublicKeyAttrs``.
///   - error: receives an error; ``errSecUnimplemented`` for keys of a Secure Enclave.
/// - Returns: nil on error.
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    reporting(to: error) { () throws(StatusError) in
        try NewKeyPair(parameters).make()
    }
}

extension ItemQuery {
    /// Reads attributes without a class as those of a class.
    init(_ attributes: CFDictionary, keysOf itemClass: ItemClass) throws(StatusError) {
        try self.init(attributes, of: itemClass)
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
