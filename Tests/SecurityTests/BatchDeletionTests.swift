import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// Deletions of several items: all or none, as far as the provider can.
struct BatchDeletionTests {
    @Test("A12 Several matches in one keychain are deleted by one call")
    func delete_severalMatches_isOneCall() async throws {
        try await Keychain.withOwn { keychain in
            for account in ["anna", "ben"] { try add(keychain.generic(account)) }
            let monitor = try await CallMonitor(keychain.provider.bus)
            let calls = try await monitor.calls { #expect(SecItemDelete(both(keychain)) == errSecSuccess) }
            #expect(calls == ["Search1.Search", "Collection1.DeleteItems"])
            #expect(SecItemDelete(both(keychain)) == errSecItemNotFound)
        }
    }

    @Test("A12 A person who refuses one of several matches keeps all, and one who agrees is asked once")
    func delete_oneMatchIsProtected_deletesAllOrNone() async throws {
        try await Keychain.withOwn { keychain in
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, .devicePasscode, nil)
            )
            try add(keychain.generic("anna"))
            try add(keychain.generic("ben", [kSecAttrAccessControl: control]))
            let refusing = try await keychain.provider.answerPrompts(.cancel)
            #expect(SecItemDelete(both(keychain)) != errSecSuccess)
            await refusing.crash()
            for account in ["anna", "ben"] {
                #expect(SecItemCopyMatching(keychain.generic(account), nil) == errSecSuccess)
            }
            let agreeing = try await keychain.provider.answerPrompts(.answer("password"))
            let monitor = try await CallMonitor(keychain.provider.bus)
            let calls = try await monitor.calls { #expect(SecItemDelete(both(keychain)) == errSecSuccess) }
            #expect(calls.contains("Collection1.DeleteItems") && !calls.contains("Item.Delete"), "\(calls)")
            #expect(agreeing.questions.count == 1)
            #expect(SecItemCopyMatching(both(keychain), nil) == errSecItemNotFound)
            await agreeing.crash()
        }
    }

    @Test("A12 Matches in several keychains are deleted one by one")
    func delete_inSeveralKeychains_deletesAll() async throws {
        try await Keychain.withOwn { keychain in
            try add(keychain.generic("anna"))
            let client = try await keychain.provider.makeOwnClient()
            let other = try #require(await client.collection(alias: "session"))
            try await other.createItem(
                label: "ben",
                attributes: [
                    "service": keychain.name, "account": "ben", "xdg:schema": "org.freedesktop.Secret.Generic",
                ],
                secret: Secret(Array("secret".utf8))
            )
            let monitor = try await CallMonitor(keychain.provider.bus)
            let calls = try await monitor.calls { #expect(SecItemDelete(both(keychain)) == errSecSuccess) }
            #expect(calls == ["Search1.Search", "Item.Delete", "Item.Delete"])
            #expect(SecItemCopyMatching(both(keychain), nil) == errSecItemNotFound)
        }
    }

    @Test("A12 More matches than the provider deletes at once are deleted one by one")
    func delete_manyMatches_deletesAll() async throws {
        try await Keychain.withOwn { keychain in
            for number in 0..<130 { try add(keychain.generic("\(number)")) }
            let monitor = try await CallMonitor(keychain.provider.bus)
            let calls = try await monitor.calls { #expect(SecItemDelete(both(keychain)) == errSecSuccess) }
            #expect(calls.prefix(2) == ["Search1.Search", "Collection1.DeleteItems"])
            #expect(calls.filter { $0 == "Item.Delete" }.count == 130)
            #expect(SecItemCopyMatching(both(keychain), nil) == errSecItemNotFound)
        }
    }

    private func add(_ item: CFDictionary) throws {
        let added = try #require(item.mutableCopy() as? NSMutableDictionary)
        added[kSecValueData as String] = data("secret")
        try #require(SecItemAdd(added, nil) == errSecSuccess)
    }

    /// A query for all generic passwords of a test.
    private func both(_ keychain: Keychain) -> CFDictionary {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: keychain.name] as CFDictionary
    }
}
