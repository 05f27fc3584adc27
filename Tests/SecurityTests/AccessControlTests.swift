import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

struct AccessControlTests {
    @Test(
        "A21 A22 A26 Reading an item with access control shows a prompt, and needs authentication"
    )
    func copyMatching_devicePasscode_asks() async throws {
        try await Keychain.withOwn { keychain in
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, .devicePasscode, nil)
            )
            let item = keychain.generic("anna", [kSecAttrAccessControl: control, kSecValueData: data("1")])
            #expect(SecItemAdd(item, nil) == errSecSuccess)
            let query: [CFString: Any] = [kSecReturnData: true]
            var result: CFTypeRef?
            let failing = query.merging([kSecUseAuthenticationUI: kSecUseAuthenticationUIFail]) { $1 }
            #expect(SecItemCopyMatching(keychain.generic("anna", failing), &result) == errSecInteractionNotAllowed)
            let skipping = query.merging([kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]) { $1 }
            #expect(SecItemCopyMatching(keychain.generic("anna", skipping), &result) == errSecItemNotFound)
            let prompter = try await keychain.provider.answerPrompts(.answer("password"))
            #expect(keychain.secret(keychain.generic("anna")) == "1")
            #expect(prompter.questions.count == 1)
            await prompter.crash()
        }
    }

    @Test(
        "An update sets an access control, and one without constraints removes it",
        arguments: [SecAccessControlCreateFlags.userPresence, .devicePasscode]
    )
    func update_accessControl_takesTheOldOnesPlace(flags: SecAccessControlCreateFlags) async throws {
        try await Keychain.withOwn { keychain in
            let protection = kSecAttrAccessibleAfterFirstUnlock
            let control = try #require(SecAccessControlCreateWithFlags(nil, protection, flags, nil))
            let none = try #require(SecAccessControlCreateWithFlags(nil, protection, [], nil))
            let silence: [CFString: Any] = [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail]
            let query = keychain.generic("anna", silence)
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("1")]), nil) == errSecSuccess)
            let protected = [kSecAttrAccessControl: control] as CFDictionary
            #expect(SecItemUpdate(keychain.generic(), protected) == errSecSuccess)
            var result: CFTypeRef?
            let asking = keychain.generic("anna", silence.merging([kSecReturnData: true]) { $1 })
            #expect(SecItemCopyMatching(asking, &result) == errSecInteractionNotAllowed)
            #expect(result == nil)
            #expect(SecItemCopyMatching(keychain.generic("anna", [kSecAttrAccessControl: control]), nil) == 0)

            let open = [kSecAttrAccessControl: none] as CFDictionary
            #expect(SecItemUpdate(query, open) == errSecInteractionNotAllowed)
            let prompter = try await keychain.provider.answerPrompts(.answer("password"))
            #expect(SecItemUpdate(keychain.generic(), open) == errSecSuccess)
            #expect(prompter.questions.count == 1)
            #expect(keychain.secret(query) == "1")
            #expect(SecItemCopyMatching(keychain.generic("anna", [kSecAttrAccessControl: none]), nil) == 0)
            let found = keychain.find(keychain.generic("anna", [kSecReturnAttributes: true]), as: [String: Any].self)
            #expect(found?[kSecAttrAccessControl as String] == nil)
            await prompter.crash()
        }
    }

    @Test("An item with access control cannot be marked for synchronisation")
    func accessControl_excludesSynchronisation() async throws {
        try await Keychain.withOwn { keychain in
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, .userPresence, nil)
            )
            let protected: [CFString: Any] = [kSecAttrAccessControl: control]
            let marked: [CFString: Any] = [kSecAttrSynchronizable: true]
            #expect(SecItemAdd(keychain.generic("anna", protected.merging(marked) { $1 }), nil) == errSecParam)
            #expect(SecItemAdd(keychain.generic("anna", marked), nil) == errSecSuccess)
            #expect(SecItemUpdate(keychain.generic("anna", marked), protected as CFDictionary) == errSecParam)
            let found = keychain.generic("anna", marked.merging([kSecReturnAttributes: true]) { $1 })
            #expect(keychain.find(found, as: [String: Any].self)?[kSecAttrAccessControl as String] == nil)
        }
    }

    @Test("An item with access control is added to login, not to the default collection")
    func add_protected_goesToLogin() async throws {
        try await Keychain.withOwn { keychain in
            let prompter = try await keychain.provider.answerPrompts(.answer("chosen by a program"))
            let client = try await keychain.provider.makeOwnClient()
            let other = try await client.createCollection(label: "Other")
            try await client.setAlias("default", to: other)
            let protection = kSecAttrAccessibleAfterFirstUnlock
            let control = try #require(SecAccessControlCreateWithFlags(nil, protection, .userPresence, nil))
            #expect(SecItemAdd(keychain.generic("open"), nil) == errSecSuccess)
            #expect(SecItemAdd(keychain.generic("bank", [kSecAttrAccessControl: control]), nil) == errSecSuccess)
            let login = try #require(try await client.collection(alias: "login"))
            #expect(try await other.items().count == 1)
            #expect(try await login.items().count == 1)
            await prompter.crash()
        }
    }

    @Test("A search for an access control without constraints excludes items that have some")
    func copyMatching_unconstrained_leavesOutProtected() async throws {
        try await Keychain.with { keychain in
            let protection = kSecAttrAccessibleAfterFirstUnlock
            let control = try #require(SecAccessControlCreateWithFlags(nil, protection, .userPresence, nil))
            let none = try #require(SecAccessControlCreateWithFlags(nil, protection, [], nil))
            #expect(SecItemAdd(keychain.generic("anna", [kSecAttrAccessControl: control]), nil) == errSecSuccess)
            let query = keychain.generic("anna", [kSecAttrAccessControl: none])
            #expect(SecItemCopyMatching(query, nil) == errSecItemNotFound)
        }
    }

    @Test(
        "Valid combinations of flags",
        arguments: [
            ([], "afterFirstUnlock"), (.userPresence, "afterFirstUnlock, userPresence"),
            ([.biometryAny, .or, .devicePasscode], "afterFirstUnlock, biometryAny or devicePasscode"),
            ([.biometryAny, .and, .applicationPassword], "afterFirstUnlock, biometryAny and applicationPassword"),
            ([.userPresence, .applicationPassword], "afterFirstUnlock, userPresence and applicationPassword"),
            ([.devicePasscode, .or, .applicationPassword], "afterFirstUnlock, devicePasscode and applicationPassword"),
            (
                [.biometryAny, .or, .devicePasscode, .applicationPassword],
                "afterFirstUnlock, (biometryAny or devicePasscode) and applicationPassword"
            ),
            ([.or, .applicationPassword], "afterFirstUnlock, applicationPassword"),
            (.privateKeyUsage, "afterFirstUnlock, privateKeyUsage"),
            ([.privateKeyUsage, .biometryCurrentSet], "afterFirstUnlock, privateKeyUsage and biometryCurrentSet"),
            (
                [.privateKeyUsage, .biometryAny, .or, .devicePasscode],
                "afterFirstUnlock, privateKeyUsage and (biometryAny or devicePasscode)"
            ),
        ] as [(SecAccessControlCreateFlags, String)]
    )
    func create_goodFlags_isMade(flags: SecAccessControlCreateFlags, description: String) {
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, flags, nil)
        #expect(control?.description == description)
        #expect(control == SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, flags, nil))
    }

    @Test(
        "Invalid and unsupported combinations of flags",
        arguments: [
            (1 << 14, errSecParam), (1 << 0 | 1 << 14 | 1 << 15, errSecParam), (1 << 5, errSecUnimplemented),
            (1 << 30 | 1 << 14, errSecParam), (1 << 20, errSecParam), (1 << 1 | 1 << 3, errSecParam),
            (1 << 0 | 1 << 1, errSecParam), (1 << 0 | 1 << 4 | 1 << 14, errSecParam), (1 << 0 | 1 << 15, errSecParam),
        ] as [(UInt, OSStatus)]
    )
    func create_badFlags_isRefused(bits: UInt, status: OSStatus) {
        let flags = SecAccessControlCreateFlags(rawValue: bits)
        var error: Unmanaged<CFError>?
        #expect(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, flags, &error) == nil)
        let taken = error?.takeRetainedValue()
        #expect(taken.map(CFErrorGetCode) == Int(status))
        #expect(taken.map { CFErrorGetDomain($0) as String } == "NSOSStatusErrorDomain")
    }

    @Test
    func create_noProtection_isRefused() {
        var error: Unmanaged<CFError>?
        #expect(SecAccessControlCreateWithFlags(nil, "nonsense" as CFTypeRef, .userPresence, &error) == nil)
        #expect(error?.takeRetainedValue() as (any Error)? != nil)
    }

    @Test
    func random_fillsAndRefuses() {
        var bytes = [UInt8](repeating: 0, count: 64)
        #expect(SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes) == errSecSuccess)
        #expect(Set(bytes).count > 8)
        #expect(SecRandomCopyBytes(nil, -1, &bytes) == errSecParam)
    }
}
