import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

struct IdentityTests {
    private let query: [CFString: Any] = [kSecClass: kSecClassIdentity]

    @Test("A55 A certificate and its private key form an identity", arguments: TestedProvider.allCases)
    func copyMatching_certificateAndKey_areOne(provider: TestedProvider) async throws {
        try await Keychain.withOwn(provider) { keychain in
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecItemNotFound)
            // Not identities: a certificate without a key or with only the public key, a key without a certificate.
            try add("nameless", "rsa-private.der")
            try add("ec384", "ec384-public.bin")
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecItemNotFound)
            try add("rsa", "ec256-private.bin")
            try add("ec256", nil)
            // Both certificates have a key.
            let all = query.merging([kSecMatchLimit: kSecMatchLimitAll]) { $1 }
            let found = try #require(keychain.find(all, [kSecReturnRef: true], as: [SecIdentity].self))
            #expect(try Set(found.map(parts).map(\.0)) == [Sample.certificate("rsa"), Sample.certificate("ec256")])
            let labelled = query.merging([kSecAttrLabel: "Anna Example"]) { $1 }
            let identity = try #require(keychain.find(labelled, [kSecReturnRef: true], as: SecIdentity.self))
            #expect(try parts(identity).1 == Sample.key("rsa-private.der"))
            let sized = query.merging([kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256]) { $1 }
            let other = try #require(keychain.find(sized, [kSecReturnRef: true], as: SecIdentity.self))
            #expect(try parts(other).0 == Sample.certificate("ec256"))
            #expect(other != identity)
        }
    }

    @Test
    func copyMatching_everyForm_andPersistentReference() async throws {
        try await Keychain.withOwn { keychain in
            try add("rsa", "rsa-private.der")
            #expect(try keychain.find(query, [kSecReturnData: true], as: Data.self) == Sample.data("rsa.der"))
            let returned: [CFString: Any] = [
                kSecReturnAttributes: true, kSecReturnRef: true, kSecReturnPersistentRef: true,
            ]
            let found = try #require(keychain.find(query, returned, as: [String: Any].self))
            #expect(found[kSecClass as String] as? String == kSecClassIdentity as String)
            #expect(
                found[kSecAttrPublicKeyHash as String] as? Data == found[kSecAttrApplicationLabel as String] as? Data
            )
            #expect(found[kSecAttrKeySizeInBits as String] as? Int == 2048)
            let identity = try #require(found[kSecValueRef as String] as? SecIdentity)
            let reference = try #require(found[kSecValuePersistentRef as String] as? Data)
            try await keychain.provider.restart()
            let byReference: [CFString: Any] = [kSecValuePersistentRef: reference]
            #expect(keychain.find(byReference, [kSecReturnRef: true], as: SecIdentity.self) == identity)
            let wrong = byReference.with(kSecClass, kSecClassCertificate)
            #expect(SecItemCopyMatching(wrong, nil) == errSecInvalidItemRef)
            #expect(SecItemCopyMatching(query.with(kSecAttrAccount, "a"), nil) == errSecNoSuchAttr)
        }
    }

    @Test("A56 Adding an identity adds its missing items, and deleting it deletes both")
    func addAndDelete_areOfBoth() async throws {
        try await Keychain.withOwn { keychain in
            #expect(SecItemAdd(query as CFDictionary, nil) == errSecParam)
            try add("ec256", "ec256-private.bin")
            let identity = try #require(keychain.find(query, [kSecReturnRef: true], as: SecIdentity.self))
            let item = [kSecValueRef: identity] as [CFString: Any]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecDuplicateItem)
            #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
            #expect(SecItemDelete(query as CFDictionary) == errSecItemNotFound)
            for itemClass in [kSecClassKey, kSecClassCertificate] {
                #expect(
                    SecItemCopyMatching([kSecClass: itemClass] as [CFString: Any] as CFDictionary, nil)
                        == errSecItemNotFound
                )
            }
            // The reference to a key in the keychain is no copy of it.
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecItemNotFound)
            try add("ec256", "ec256-private.bin")
            let again = try #require(keychain.find(query, [kSecReturnRef: true], as: SecIdentity.self))
            #expect(again == identity)
            let certificate = [kSecClass: kSecClassCertificate] as [CFString: Any] as CFDictionary
            #expect(SecItemDelete(certificate) == errSecSuccess)
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecItemNotFound)
            var result: CFTypeRef?
            let missing = [kSecValueRef: again, kSecReturnRef: true] as [CFString: Any] as CFDictionary
            #expect(SecItemAdd(missing, &result) == errSecSuccess)
            #expect(result as? SecIdentity == identity)
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecSuccess)
        }
    }

    @Test("An added identity is the result, also if one of its items was there with other attributes")
    func add_existingKeyHasOtherAttributes_isTheResult() async throws {
        try await Keychain.withOwn { keychain in
            try add("ec256", "ec256-private.bin")
            let identity = try #require(keychain.find(query, [kSecReturnRef: true], as: SecIdentity.self))
            let certificate = [kSecClass: kSecClassCertificate] as [CFString: Any] as CFDictionary
            #expect(SecItemDelete(certificate) == errSecSuccess)
            let tagged: [CFString: Any] = [
                kSecValueRef: identity, kSecAttrApplicationTag: data("tag"), kSecAttrLabel: "mine", kSecReturnRef: true,
            ]
            var result: CFTypeRef?
            #expect(SecItemAdd(tagged as CFDictionary, &result) == errSecSuccess)
            #expect(result as? SecIdentity == identity)
            let labelled = query.merging([kSecAttrLabel: "mine"]) { $1 }
            #expect(SecItemCopyMatching(labelled as CFDictionary, nil) == errSecSuccess)
        }
    }

    private func add(_ certificate: String, _ key: String?) throws {
        let added = [kSecValueRef: try Sample.certificate(certificate)] as [CFString: Any]
        #expect(SecItemAdd(added as CFDictionary, nil) == errSecSuccess)
        guard let key else { return }
        let other = [kSecValueRef: try Sample.key(key)] as [CFString: Any]
        #expect(SecItemAdd(other as CFDictionary, nil) == errSecSuccess)
    }

    private func parts(_ identity: SecIdentity) throws -> (SecCertificate, SecKey) {
        var certificate: SecCertificate?
        var key: SecKey?
        #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
        #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess)
        return (try #require(certificate), try #require(key))
    }
}
