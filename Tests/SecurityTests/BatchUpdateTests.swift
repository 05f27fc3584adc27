import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// Updates that fail: all matches change, or none.
struct BatchUpdateTests {
    @Test("A9 An update that would make two matches equal changes neither", arguments: TestedProvider.allCases)
    func update_twoMatchesBecomeEqual_changesNothing(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            for account in ["anna", "ben"] { try add(keychain.generic(account), account) }
            let both = [kSecClass: kSecClassGenericPassword, kSecAttrService: keychain.name] as CFDictionary
            let change: [CFString: Any] = [kSecAttrAccount: "carl", kSecValueData: data("new")]
            #expect(SecItemUpdate(both, change as CFDictionary) == errSecDuplicateItem)
            #expect(keychain.secret(keychain.generic("anna")) == "anna")
            #expect(keychain.secret(keychain.generic("ben")) == "ben")
            #expect(SecItemCopyMatching(keychain.generic("carl"), nil) == errSecItemNotFound)
        }
    }

    @Test("A9 An update that would make a later match a duplicate changes none", arguments: TestedProvider.allCases)
    func update_laterMatchBecomesDuplicate_changesNothing(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            for service in ["1", "2"] { try add(item(keychain, service, "anna"), service) }
            try add(item(keychain, "2", "carl", comment: "other"), "carl")
            let change: [CFString: Any] = [kSecAttrAccount: "carl", kSecValueData: data("new")]
            #expect(SecItemUpdate(all(keychain), change as CFDictionary) == errSecDuplicateItem)
            for service in ["1", "2"] { #expect(keychain.secret(item(keychain, service, "anna")) == service) }
            #expect(SecItemCopyMatching(item(keychain, "1", "carl"), nil) == errSecItemNotFound)
            #expect(keychain.secret(item(keychain, "2", "carl", comment: "other")) == "carl")
            // Control: without the duplicate, all change.
            #expect(SecItemDelete(item(keychain, "2", "carl", comment: "other")) == errSecSuccess)
            #expect(SecItemUpdate(all(keychain), change as CFDictionary) == errSecSuccess)
            for service in ["1", "2"] { #expect(keychain.secret(item(keychain, service, "carl")) == "new") }
        }
    }

    /// The provider refuses the second match, which has too many bytes of attributes already.
    @Test("A9 An update of which the provider refuses a part is taken back")
    func update_providerRefusesLaterMatch_isTakenBack() async throws {
        try await Keychain.with { keychain in
            let large = Data(repeating: 1, count: 50 << 10)
            try add(item(keychain, "1", "anna", [kSecAttrLabel: "old"]), "1")
            try add(item(keychain, "2", "anna", [kSecAttrGeneric: large]), "2")
            let change: [CFString: Any] = [
                kSecAttrDescription: String(repeating: "d", count: 200 << 10), kSecAttrLabel: "new",
                kSecValueData: data("new"),
            ]
            #expect(SecItemUpdate(all(keychain), change as CFDictionary) == errSecDataTooLarge)
            for service in ["1", "2"] {
                let query = item(keychain, service, "anna", [kSecReturnAttributes: true, kSecReturnData: true])
                let found = try #require(keychain.find(query, as: [String: Any].self))
                #expect(found[kSecValueData as String] as? Data == data(service))
                #expect(found[kSecAttrDescription as String] == nil)
                #expect(found[kSecAttrLabel as String] as? String != "new")
            }
        }
    }

    /// For keychaind, and for the bus, which takes less than other providers.
    @Test(
        "A9 An update with a secret that is too large changes no attribute",
        arguments: zip(TestedProvider.allCases, [17 << 20, Secret.maximumCount + 1])
    )
    func update_secretTooLarge_changesNothing(provider: TestedProvider, size: Int) async throws {
        try await Keychain.with(provider) { keychain in
            try add(keychain.generic(), "old")
            let change: [CFString: Any] = [
                kSecAttrAccount: "ben", kSecAttrComment: "c", kSecValueData: Data(count: size),
            ]
            #expect(SecItemUpdate(keychain.generic(), change as CFDictionary) == errSecDataTooLarge)
            let query = keychain.generic("anna", [kSecReturnAttributes: true, kSecReturnData: true])
            let found = try #require(keychain.find(query, as: [String: Any].self))
            #expect(found[kSecValueData as String] as? Data == data("old"))
            #expect(found[kSecAttrComment as String] == nil)
            #expect(SecItemCopyMatching(keychain.generic("ben"), nil) == errSecItemNotFound)
        }
    }

    @Test("An update asks for no old secret for which a person would have to be asked")
    func update_protectedItems_readsNoSecret() async throws {
        try await Keychain.withOwn { keychain in
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, .devicePasscode, nil)
            )
            for account in ["anna", "ben"] {
                let item = keychain.generic(account, [kSecAttrAccessControl: control, kSecValueData: data("old")])
                #expect(SecItemAdd(item, nil) == errSecSuccess)
            }
            let prompter = try await keychain.provider.answerPrompts(.answer("password"))
            let monitor = try await CallMonitor(keychain.provider.bus)
            let calls = try await monitor.calls {
                let both = [kSecClass: kSecClassGenericPassword, kSecAttrService: keychain.name] as CFDictionary
                #expect(SecItemUpdate(both, [kSecValueData: data("new")] as CFDictionary) == errSecSuccess)
            }
            #expect(calls.filter { $0 == "Item.SetSecret" }.count == 2)
            #expect(!calls.contains("Item.GetSecret"))
            await prompter.crash()
        }
    }

    private func add(_ item: CFDictionary, _ secret: String) throws {
        let added = try #require(item.mutableCopy() as? NSMutableDictionary)
        added[kSecValueData as String] = data(secret)
        try #require(SecItemAdd(added, nil) == errSecSuccess)
    }

    /// A query for an item with a service of its own, which ``all(_:)`` finds by its comment.
    private func item(
        _ keychain: Keychain,
        _ service: String,
        _ account: String,
        comment: String = "batch",
        _ more: [CFString: Any] = [:]
    ) -> CFDictionary {
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: keychain.name + service, kSecAttrAccount: account,
            kSecAttrComment: keychain.name + comment,
        ]
        return query.merging(more) { $1 } as CFDictionary
    }

    private func all(_ keychain: Keychain) -> CFDictionary {
        [kSecClass: kSecClassGenericPassword, kSecAttrComment: keychain.name + "batch"] as CFDictionary
    }
}
