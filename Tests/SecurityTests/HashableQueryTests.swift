import Foundation
import KeychaindTestSupport
import Security
import Testing

/// Queries and results as libraries keep them: dictionaries of `AnyHashable`.
struct HashableQueryTests {
    @Test("A query of hashable values matches an access control")
    func query_hashableValues_isTaken() async throws {
        try await Keychain.with { keychain in
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .devicePasscode, nil)
            )
            var query: [String: AnyHashable] = [
                kSecClass as String: kSecClassGenericPassword as String, kSecAttrService as String: keychain.name,
                kSecAttrAccount as String: "anna", kSecAttrAccessControl as String: control,
            ]
            let secret: [String: AnyHashable] = [kSecValueData as String: data("1")]
            #expect(SecItemAdd(query.merging(secret) { $1 } as CFDictionary, nil) == errSecSuccess)

            query[kSecMatchLimit as String] = kSecMatchLimitOne
            query[kSecReturnAttributes as String] = true
            let found = keychain.find(query as CFDictionary, as: [CFString: AnyHashable].self)
            #expect(found?[kSecAttrAccount] as? String == "anna")
            #expect(found?[kSecAttrAccessControl] as? SecAccessControl == control)

            query[kSecAttrAccessControl as String] =
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecItemNotFound)
        }
    }

    @Test("References in results of hashable values find the secrets")
    func results_castToHashableValues() async throws {
        try await Keychain.with { keychain in
            for account in ["anna", "ben"] {
                #expect(SecItemAdd(keychain.generic(account, [kSecValueData: data(account)]), nil) == errSecSuccess)
            }
            let query = keychain.all([kSecReturnAttributes: true, kSecReturnPersistentRef: true])
            let items = try #require(keychain.find(query, as: [[String: AnyHashable]].self))
            #expect(items.count == 2)
            for item in items {
                let reference = try #require(item[kSecValuePersistentRef as String])
                let query: [String: AnyHashable] = [kSecValuePersistentRef as String: reference]
                #expect(keychain.secret(query as CFDictionary) == item[kSecAttrAccount as String] as? String)
            }
        }
    }
}
