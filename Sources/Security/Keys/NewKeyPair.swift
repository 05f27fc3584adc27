#if Keys
public import Foundation
import KeychaindKeys
import KeychaindModel
import SecretServiceClient

/// A key pair to generate, and which keys to store.
struct NewKeyPair {
    private let type: KeyType
    private let bits: Int
    private let privateItem: ItemQuery
    private let publicItem: ItemQuery

    init(_ parameters: CFDictionary) throws(StatusError) {
        guard let common = parameters.mutableCopy() as? NSMutableDictionary else {
            throw StatusError(errSecParam, "the parameters are not a dictionary")
        }
        let dictionaries = [kSecPrivateKeyAttrs as String, kSecPublicKeyAttrs as String].map { key in
            defer { common.removeObject(forKey: key) }
            return common[key]
        }
        let query = try ItemQuery(common, keysOf: .key)
        guard let type = query.keyType, case .number(let bits)? = query.values[.keySize] else {
            throw StatusError(errSecParam, "the parameters have no type and size")
        }
        self.type = type
        self.bits = Int(clamping: bits)
        privateItem = try NewKeyPair.attributes(dictionaries[0], of: query)
        publicItem = try NewKeyPair.attributes(dictionaries[1], of: query)
    }

    /// Generates the pair, and stores the requested keys.
    func make() throws(StatusError) -> (publicKey: SecKey, privateKey: SecKey) {
        let privateKey = if let key = try generateInKeychain() { key } else { try generateHere() }
        guard let publicMaterial = privateKey.publicKey else {
            throw StatusError(errSecInternalError, "the generated key has no public key")
        }
        do throws(StatusError) {
            return (try NewKeyPair.store(publicMaterial, publicItem), privateKey)
        } catch {
            try? NewKeyPair.delete(privateKey.reference)
            throw error
        }
    }

    /// Generates a permanent key where it stays; nil for another key, and with a provider that cannot.
    private func generateInKeychain() throws(StatusError) -> SecKey? {
        try checkToken()
        guard privateItem.values[.isPermanent] == .boolean(true) else { return nil }
        let query = NewKeyPair.withoutComputed(privateItem)
        let item = try query.item()
        let (type, bits) = (type, bits)
        let found = try BlockingCall.run { (client) throws(SecretServiceError) in
            do throws(SecretServiceError) {
                return try await client.generateKey(item, type, bits: bits, query)
            } catch  where error.keyErrorName == KeyError.Code.tokenUnavailable.rawValue {
                // As on devices without a Secure Enclave.
                throw SecretServiceError(.notSupported, error.reason)
            }
        }
        guard found != nil || item.token == nil else {
            throw StatusError(errSecUnimplemented, "the keychain is not keychaind's and has no Secure Enclave")
        }
        return try found?.key
    }

    /// Checks the attributes of a key that a token is to make and hold.
    private func checkToken() throws(StatusError) {
        guard case .text(let code)? = privateItem.values[.token] else { return }
        guard KeyTokenName(code: code) != nil else {
            throw StatusError(errSecUnimplemented, "there is no token \(code)")
        }
        guard privateItem.values[.isPermanent] == .boolean(true) else {
            throw StatusError(
                errSecUnimplemented,
                "a key of the Secure Enclave has to be permanent: kSecAttrIsPermanent"
            )
        }
        guard privateItem.values[.isExtractable] != .boolean(true) else {
            throw StatusError(errSecParam, "a key of the Secure Enclave cannot be extractable")
        }
    }

    private func generateHere() throws(StatusError) -> SecKey {
        let material = try StatusError.translating(key: { () throws(KeyError) in
            try KeyMaterial(making: type, bits: bits)
        })
        return try NewKeyPair.store(material, privateItem)
    }

    /// The attributes of one key: its own, and the common ones.
    private static func attributes(_ attributes: Any?, of common: ItemQuery) throws(StatusError) -> ItemQuery {
        var item = common
        guard let attributes else { return item }
        guard let dictionary = attributes as? NSDictionary else {
            throw StatusError(errSecParam, "the attributes of a key are not a dictionary")
        }
        let own = try ItemQuery(dictionary, keysOf: .key)
        item.values.merge(own.values) { $1 }
        item.label = own.label ?? common.label
        item.synchronizable = own.synchronizable ?? common.synchronizable
        item.isUnconstrained = own.isUnconstrained || common.isUnconstrained
        item.contextSource = own.contextSource ?? common.contextSource
        item.context = own.context ?? common.context
        if own.interaction != .ask { item.interaction = own.interaction }
        if !own.operationPrompt.isEmpty { item.operationPrompt = own.operationPrompt }
        return item
    }

    /// The key, stored if it is permanent.
    private static func store(_ material: KeyMaterial, _ item: ItemQuery) throws(StatusError) -> SecKey {
        let properties = KeyProperties(of: item)
        guard item.values[.isPermanent] == .boolean(true) else { return SecKey(material, properties) }
        var query = withoutComputed(item)
        // They say something about private keys only.
        if material.keyClass == .public { (query.values[.isExtractable], query.values[.token]) = (nil, nil) }
        query.object = .key(SecKey(material))
        let addition = try query.addition()
        let reference = try BlockingCall.run { (client) throws(SecretServiceError) in
            try await client.add(addition.item, addition.query).reference
        }
        return SecKey(material, properties, reference)
    }

    /// The query without the attributes that follow from the key.
    private static func withoutComputed(_ item: ItemQuery) -> ItemQuery {
        var query = item
        for attribute in [KeychainAttribute.keyClass, .keyType, .keySize, .effectiveKeySize] {
            query.values[attribute] = nil
        }
        return query
    }

    private static func delete(_ reference: PersistentReference?) throws(StatusError) {
        guard let reference else { return }
        var query = ItemQuery()
        query.reference = reference
        let asked = query
        _ = try BlockingCall.run { (client) throws(SecretServiceError) in try await client.delete(asked, nil) }
    }
}

/// Generates a private key.
///
/// - Parameters:
///   - parameters: ``kSecAttrKeyType`` and ``kSecAttrKeySizeInBits``: RSA of 2048, 3072 or 4096 bits, elliptic curves
///     of 256, 384 or 521. The key is stored if ``kSecAttrIsPermanent`` in ``kSecPrivateKeyAttrs`` is true, with the
///     attributes there; the public key likewise with ``kSecPublicKeyAttrs``.
///   - error: receives an error; ``errSecUnimplemented`` for a key of a Secure Enclave on a computer without a TPM, and
///     for one that is not permanent.
/// - Returns: nil on error.
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    reporting(to: error) { () throws(StatusError) in
        try NewKeyPair(parameters).make().privateKey
    }
}

/// Generates a key pair; use ``SecKeyCreateRandomKey(_:_:)`` in new code.
///
/// - Parameters:
///   - parameters: those of ``SecKeyCreateRandomKey(_:_:)``.
///   - publicKey: receives the public key.
///   - privateKey: receives the private key.
/// - Returns: ``errSecSuccess``, or the code of an error of ``SecKeyCreateRandomKey(_:_:)``.
public func SecKeyGeneratePair(
    _ parameters: CFDictionary,
    _ publicKey: UnsafeMutablePointer<SecKey?>?,
    _ privateKey: UnsafeMutablePointer<SecKey?>?
) -> OSStatus {
    do throws(StatusError) {
        let pair = try NewKeyPair(parameters).make()
        publicKey?.pointee = pair.publicKey
        privateKey?.pointee = pair.privateKey
        return errSecSuccess
    } catch {
        return error.status
    }
}
#endif
