import Foundation
import KeychaindTestSupport
import Security
import Testing

struct ReferenceTests {
    @Test(arguments: TestedProvider.allCases)
    func persistentReference_findsChangesAndDeletes(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            let added = keychain.generic("anna", [kSecValueData: data("1"), kSecReturnPersistentRef: true])
            var result: CFTypeRef?
            #expect(SecItemAdd(added, &result) == errSecSuccess)
            let reference = try #require(result as? Data)
            let query = [kSecValuePersistentRef: reference] as CFDictionary
            #expect(keychain.secret(query) == "1")
            #expect(SecItemUpdate(query, [kSecValueData: data("2")] as CFDictionary) == errSecSuccess)
            #expect(keychain.secret(query) == "2")
            let otherClass = [kSecValuePersistentRef: reference, kSecClass: kSecClassInternetPassword] as CFDictionary
            #expect(SecItemCopyMatching(otherClass, nil) == errSecItemNotFound)
            #expect(SecItemDelete(query) == errSecSuccess)
            #expect(SecItemCopyMatching(query, nil) == errSecItemNotFound)
        }
    }

    @Test
    func persistentReference_providerRestarts_isTheSameItem() async throws {
        try await Keychain.withOwn { keychain in
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("1")]), nil) == errSecSuccess)
            let query = keychain.generic("anna", [kSecReturnPersistentRef: true])
            let reference = try #require(keychain.find(query, as: Data.self))
            try await keychain.provider.restart()
            #expect(keychain.find(query, as: Data.self) == reference)
            #expect(keychain.secret([kSecValuePersistentRef: reference] as CFDictionary) == "1")
        }
    }

    @Test
    func reference_stands_forItsItem() async throws {
        try await Keychain.with { keychain in
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("1")]), nil) == errSecSuccess)
            let query = keychain.generic("anna", [kSecReturnRef: true])
            let reference = try #require(keychain.find(query, as: SecKeychainItem.self))
            #expect(keychain.secret([kSecValueRef: reference] as CFDictionary) == "1")
            #expect(keychain.find(query, as: SecKeychainItem.self) == reference)
            let together = keychain.generic("anna", [kSecReturnRef: true, kSecReturnData: true])
            let found = keychain.find(together, as: [String: Any].self)
            #expect(found?[kSecValueRef as String] as? SecKeychainItem == reference)
            #expect(found?[kSecAttrAccount as String] == nil)
        }
    }

    @Test(arguments: [data(""), data("nonsense"), data("org.freedesktop.secrets:nonsense"), Data([0xff])])
    func persistentReference_nonsense_isRefused(bytes: Data) async throws {
        try await Keychain.with { keychain in
            let query = [kSecValuePersistentRef: bytes] as CFDictionary
            #expect(SecItemCopyMatching(query, nil) == errSecParam)
            #expect(SecItemUpdate(query, [kSecAttrLabel: "x"] as CFDictionary) == errSecParam)
            #expect(SecItemDelete(query) == errSecParam)
        }
    }
}
