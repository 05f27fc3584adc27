import Crypto
import Foundation
import Security

/// A P-256 key of the keychain, which signs there.
struct KeychainKey {
    private let key: SecKey

    /// The key of this program; the first call generates it.
    init() throws {
        let tag = Data("org.example.tokens".utf8)
        let query: [String: Any] = [
            kSecClass as String: kSecClassKey,
            kSecAttrKeyClass as String: kSecAttrKeyClassPrivate,
            kSecAttrApplicationTag as String: tag,
            kSecReturnRef as String: true,
        ]
        var found: CFTypeRef?
        switch SecItemCopyMatching(query as CFDictionary, &found) {
        case errSecSuccess: key = found as! SecKey
        case errSecItemNotFound:
            let attributes: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
                kSecAttrKeySizeInBits as String: 256,
                kSecPrivateKeyAttrs as String: [
                    kSecAttrIsPermanent as String: true,
                    kSecAttrApplicationTag as String: tag,
                ] as [String: Any],
            ]
            var error: Unmanaged<CFError>?
            guard let new = SecKeyCreateRandomKey(attributes as CFDictionary, &error) else {
                throw error!.takeRetainedValue()
            }
            key = new
        case let status: throw NSError(domain: NSOSStatusErrorDomain, code: Int(status))
        }
    }

    /// The public key for swift-crypto.
    var publicKey: P256.Signing.PublicKey {
        get throws {
            guard let key = SecKeyCopyPublicKey(key), let bytes = SecKeyCopyExternalRepresentation(key, nil) else {
                throw NSError(domain: NSOSStatusErrorDomain, code: Int(errSecItemNotFound))
            }
            return try P256.Signing.PublicKey(x963Representation: bytes as Data)
        }
    }

    /// Whether the program can read the key.
    var isExtractable: Bool { SecKeyCopyExternalRepresentation(key, nil) != nil }

    /// Signs data, as tokens contain it: r and s, of 32 bytes each.
    func sign(_ data: Data) throws -> Data {
        var error: Unmanaged<CFError>?
        guard let bytes = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, data as CFData, &error) else {
            throw error!.takeRetainedValue()
        }
        return try P256.Signing.ECDSASignature(derRepresentation: bytes as Data).rawRepresentation
    }
}

/// Whether a signature of a token is that of a public key.
func isValid(_ signature: Data, of data: Data, by publicKey: P256.Signing.PublicKey) throws -> Bool {
    let attributes: [String: Any] = [
        kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
        kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
    ]
    let bytes = publicKey.x963Representation as CFData
    guard let key = SecKeyCreateWithData(bytes, attributes as CFDictionary, nil) else { return false }
    let der = try P256.Signing.ECDSASignature(rawRepresentation: signature).derRepresentation
    return SecKeyVerifySignature(key, .ecdsaSignatureMessageX962SHA256, data as CFData, der as CFData, nil)
}
