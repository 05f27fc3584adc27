import Foundation
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
    func make() throws(StatusError) -> SecKey {
        let material = try StatusError.translating(key: { () throws(KeyError) in
            try KeyMaterial(making: type, bits: bits)
        })
        let reference = try NewKeyPair.store(material, privateItem)
        if let publicKey = material.publicKey {
            do throws(StatusError) {
                _ = try NewKeyPair.store(publicKey, publicItem)
            } catch {
                try? NewKeyPair.delete(reference)
                throw error
            }
        }
        return SecKey(material, reference)
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
        return item
    }

    private static func store(_ material: KeyMaterial, _ item: ItemQuery) throws(StatusError) -> PersistentReference? {
        guard item.values[.isPermanent] == .boolean(true) else { return nil }
        var query = item
        for attribute in [KeychainAttribute.keyClass, .keyType, .keySize, .effectiveKeySize] {
            query.values[attribute] = nil
        }
        query.object = .key(SecKey(material))
        let addition = try query.addition()
        return try BlockingCall.run { (client) throws(SecretServiceError) in
            try await client.add(addition.item, addition.query).reference
        }
    }

    private static func delete(_ reference: PersistentReference?) throws(StatusError) {
        guard let reference else { return }
        var query = ItemQuery()
        query.reference = reference
        let asked = query
        _ = try BlockingCall.run { (client) throws(SecretServiceError) in try await client.delete(asked, nil) }
    }
}
