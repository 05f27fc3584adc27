import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

struct InteractionTests {
    @Test("A person unlocks a locked keychain, and is asked once", arguments: TestedProvider.allCases)
    func copyMatching_locked_asks(provider: TestedProvider) async throws {
        try await withLockedItem(provider) { keychain in
            let prompter = try await keychain.provider.answerPrompts(.answer("password"))
            #expect(keychain.secret(keychain.generic()) == "1")
            #expect(prompter.questions.count == 1)
            await prompter.crash()
        }
    }

    @Test("A password arrives with any keys of its dialog", arguments: TestedProvider.allCases)
    func copyMatching_sharedSecretWithLeadingZero_isAnswered(provider: TestedProvider) async throws {
        try await withLockedItem(provider) { keychain in
            // GNOME Keyring keeps the first key that it receives, so it gets none before its own.
            let greeting = provider == .gnomeKeyring ? PromptGreeting.says("", exchange: "") : .ready
            let bus = keychain.provider.bus
            let prompter = try await FakePrompter(on: bus, greeting: greeting, [.answerWithShortSecret("password")])
            #expect(keychain.secret(keychain.generic()) == "1")
            await prompter.crash()
        }
    }

    @Test("A refusal is errSecUserCanceled", arguments: TestedProvider.allCases)
    func copyMatching_refused_isUserCanceled(provider: TestedProvider) async throws {
        try await withLockedItem(provider) { keychain in
            let prompter = try await keychain.provider.answerPrompts(.cancel)
            var result: CFTypeRef?
            let query = keychain.generic("anna", [kSecReturnData: true])
            #expect(SecItemCopyMatching(query, &result) == errSecUserCanceled)
            #expect(result == nil)
            await prompter.crash()
        }
    }

    @Test("A locked keychain without a prompter is no refusal by a person")
    func locked_noPrompter_isNotAllowed() async throws {
        try await withLockedItem(.keychaind) { keychain in
            var result: CFTypeRef?
            let query = keychain.generic("anna", [kSecReturnData: true])
            #expect(SecItemCopyMatching(query, &result) == errSecInteractionNotAllowed)
            let change = [kSecValueData: data("2")] as [CFString: Any] as CFDictionary
            #expect(SecItemUpdate(keychain.generic("anna"), change) == errSecInteractionNotAllowed)
            #expect(SecItemDelete(keychain.generic("anna")) == errSecInteractionNotAllowed)
            let other = keychain.generic("ben", [kSecValueData: data("1")])
            #expect(SecItemAdd(other, nil) == errSecInteractionNotAllowed)
        }
    }

    @Test("Nobody is asked if that is forbidden", arguments: TestedProvider.allCases)
    func copyMatching_interactionFails_isNotAllowed(provider: TestedProvider) async throws {
        try await withLockedItem(provider) { keychain in
            var result: CFTypeRef?
            for more in [
                [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail], [kSecUseNoAuthenticationUI: true],
            ] as [[CFString: Any]] {
                let query = keychain.generic("anna", more.merging([kSecReturnData: true]) { $1 })
                #expect(SecItemCopyMatching(query, &result) == errSecInteractionNotAllowed)
            }
        }
    }

    @Test("A31 Skip silently excludes items that need a question", arguments: TestedProvider.allCases)
    func copyMatching_interactionSkips_leavesOut(provider: TestedProvider) async throws {
        try await withLockedItem(provider) { keychain in
            var result: CFTypeRef?
            let query = keychain.all([kSecUseAuthenticationUI: kSecUseAuthenticationUISkip, kSecReturnData: true])
            #expect(SecItemCopyMatching(query, &result) == errSecItemNotFound)
        }
    }

    @Test("An existence test of a locked item asks nobody", arguments: TestedProvider.allCases)
    func copyMatching_lockedAndNoResult_asksNobody(provider: TestedProvider) async throws {
        try await withLockedItem(provider) { keychain in
            #expect(SecItemCopyMatching(keychain.generic("anna", [kSecReturnData: true]), nil) == errSecSuccess)
        }
    }

    @Test("With a provider that does not enforce it, access control is refused, not dropped")
    func add_accessControlElsewhere_isUnimplemented() async throws {
        try await Keychain.with(.gnomeKeyring) { keychain in
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, .userPresence, nil)
            )
            let item = keychain.generic("anna", [kSecAttrAccessControl: control, kSecValueData: data("1")])
            #expect(SecItemAdd(item, nil) == errSecUnimplemented)
            #expect(SecItemCopyMatching(keychain.generic(), nil) == errSecItemNotFound)
        }
    }

    private func withLockedItem(
        _ provider: TestedProvider,
        _ body: (Keychain) async throws -> Void
    ) async throws {
        try await Keychain.withOwn(provider) { keychain in
            let client = try await keychain.provider.makeOwnClient()
            let login = try #require(try await client.collection(alias: "login"))
            try await client.setAlias("default", to: login)
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("1")]), nil) == errSecSuccess)
            try await login.lock()
            try await body(keychain)
        }
    }
}
