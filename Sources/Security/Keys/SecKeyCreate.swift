public import Foundation
import KeychainModel

/// Makes a key from its external form.
///
/// - Parameters:
///   - keyData: PKCS #1 for RSA, ANSI X9.63 for elliptic curves.
///   - attributes: ``kSecAttrKeyType`` and ``kSecAttrKeyClass``; a ``kSecAttrKeySizeInBits`` has to be right.
///   - error: takes an error with ``errSecDecode`` if the data is no such key, ``errSecParam`` or ``errSecUnimplemented``.
/// - Returns: nil if there is an error.
public func SecKeyCreateWithData(
    _ keyData: CFData,
    _ attributes: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    reporting(to: error) { () throws(StatusError) in
        let query = try ItemQuery(attributes, keysOf: .key)
        guard let type = query.keyType, let keyClass = query.keyClass else {
            throw StatusError(errSecParam, "the attributes name no type and class of the key")
        }
        let material = try KeyMaterial([UInt8](keyData as Data), type: type, keyClass: keyClass)
        if let size = query.values[.keySize], size != .number(Int64(material.bits)) {
            throw StatusError(errSecParam, "a key of another size")
        }
        return SecKey(material)
    }
}

/// Makes a private key at random.
///
/// - Parameters:
///   - parameters: ``kSecAttrKeyType`` and ``kSecAttrKeySizeInBits``: RSA of 2048, 3072 or 4096 bits, elliptic curves of 256, 384 or 521.
///     Where ``kSecAttrIsPermanent`` in ``kSecPrivateKeyAttrs`` is true, it is added to the keychain with the attributes there; likewise
///     the public key by those in ``kSecPublicKeyAttrs``.
///   - error: takes an error, ``errSecUnimplemented`` for keys of a Secure Enclave.
/// - Returns: nil if there is an error.
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    reporting(to: error) { () throws(StatusError) in
        try NewKeyPair(parameters).make()
    }
}
