import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// Private keys that ask somebody before they are used, in keychains that are locked or whose provider ends.
extension StoredKeyTests {
    @Test("A65 A protected key is found without asking, and asks when it is used")
    func protectedKey_asksWhenUsed() async throws {
        try await Keychain.withOwn { keychain in
            let control = try #require(
                SecAccessControlCreateWithFlags(
                    nil,
                    kSecAttrAccessibleAfterFirstUnlock,
                    [.privateKeyUsage, .devicePasscode],
                    nil
                )
            )
            let key = try keychain.generateKey(more: [kSecAttrAccessControl: control])
            let attributes = SecKeyCopyAttributes(key) as? [String: Any]
            #expect(attributes?[kSecAttrAccessControl as String] as? SecAccessControl == control)
            let silent: [CFString: Any] = [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail, kSecReturnRef: true]
            let mute = try #require(keychain.find(keychain.keys, silent, as: SecKey.self))
            var error: Unmanaged<CFError>?
            let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            #expect(SecKeyCreateSignature(mute, algorithm, Self.message as CFData, &error) == nil)
            expect(error, errSecInteractionNotAllowed)
            let skipping = keychain.keys.merging([kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]) { $1 }
            #expect(keychain.find(skipping, [kSecReturnRef: true], as: SecKey.self) == nil)
            let prompter = try await keychain.provider.answerPrompts(.answer("password"), .answer("password"), .cancel)
            let found = try #require(keychain.find(keychain.keys, [kSecReturnRef: true], as: SecKey.self))
            #expect(SecKeyCopyPublicKey(found) != nil && prompter.questions.count == 0)
            try expectSignature(by: found, algorithm)
            // As each read, each use asks: nothing says that the answer may serve longer.
            try expectSignature(by: found, algorithm)
            #expect(prompter.questions.count == 2)
            #expect(SecKeyCreateSignature(found, algorithm, Self.message as CFData, &error) == nil)
            expect(error, errSecUserCanceled)
            await prompter.crash()
        }
    }

    @Test("A64 PrivateKeyUsage alone asks nobody, and is for keys only")
    func privateKeyUsage_alone_asksNobody() async throws {
        try await Keychain.with { keychain in
            let protection = kSecAttrAccessibleAfterFirstUnlock
            let control = try #require(SecAccessControlCreateWithFlags(nil, protection, .privateKeyUsage, nil))
            let key = try keychain.generateKey(more: [kSecAttrAccessControl: control])
            try expectSignature(by: key, .ecdsaSignatureMessageX962SHA256)
            let found = keychain.find(keychain.keys, [kSecReturnAttributes: true], as: [String: Any].self)
            #expect(found?[kSecAttrAccessControl as String] as? SecAccessControl == control)
            let password = keychain.generic("anna", [kSecAttrAccessControl: control, kSecValueData: data("1")])
            #expect(SecItemAdd(password, nil) == errSecParam)
        }
    }

    @Test("A key in a keychain that is locked unlocks it")
    func lockedKeychain_isUnlockedForTheKey() async throws {
        try await Keychain.withOwn { keychain in
            let key = try keychain.generateKey()
            try await keychain.provider.restart()
            let client = try await keychain.provider.makeOwnClient()
            let login = try #require(try await client.collection(alias: "login"))
            try await login.lock()
            let prompter = try await keychain.provider.answerPrompts(.answer("password"))
            try expectSignature(by: key, .ecdsaSignatureMessageX962SHA256)
            #expect(prompter.questions.count == 1)
            #expect(try await !login.isLocked())
            await prompter.crash()
        }
    }

    // MARK: The provider ends

    @Test("A provider that dies in the middle of a signature is an error, and its successor signs")
    func providerDies_duringASignature_isAnError() async throws {
        try await Keychain.withOwn { keychain in
            let key = try keychain.generateKey()
            let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            keychain.provider.pause()
            let failure = Task {
                var error: Unmanaged<CFError>?
                let signature = SecKeyCreateSignature(key, algorithm, Self.message as CFData, &error)
                return (isMade: signature != nil, code: error?.takeRetainedValue().code)
            }
            try await keychain.provider.kill()
            let (isMade, code) = await failure.value
            #expect(!isMade && code == Int(errSecNotAvailable))
            try await keychain.provider.start()
            try expectSignature(by: key, algorithm)
        }
    }
}
