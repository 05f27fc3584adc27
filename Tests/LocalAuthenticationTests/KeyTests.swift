import Foundation
import KeychaindTestSupport
import LocalAuthentication
import Testing

/// Keys in the keychain, used in the program's context.
@Suite(.lockedPool)
struct KeyTests {
    @Test("A66 One authentication in the context of the lookup serves a batch of signatures")
    func createSignature_inAContext_asksOnce() async throws {
        try await Machine.with { machine in
            _ = try await machine.makeKey()
            let context = LAContext()
            context.localizedReason = "Sign the release"
            context.touchIDAuthenticationAllowableReuseDuration = 300
            let key = try #require(await machine.findKey(context))
            #expect(machine.questionCount == 0)
            for _ in 0..<20 { #expect(await machine.sign(with: key) == nil) }
            #expect(machine.questionCount == 1)
            let question = try #require(machine.question)
            #expect(question.text("message")?.contains("use the key “Release”") == true)
            #expect(question.text("description")?.contains("Sign the release") == true)
        }
    }

    @Test("A66 A key keeps the context that it was generated with, whose settings count when it is used")
    func createRandomKey_inAContext_keepsIt() async throws {
        try await Machine.with { machine in
            let context = LAContext()
            context.touchIDAuthenticationAllowableReuseDuration = 300
            let key = try await machine.makeKey(context)
            context.interactionNotAllowed = true
            #expect(await machine.sign(with: key) == errSecInteractionNotAllowed)
            context.interactionNotAllowed = false
            for _ in 0..<3 { #expect(await machine.sign(with: key) == nil) }
            #expect(machine.questionCount == 1)
        }
    }

    @Test("A refusal and an invalidated context are the errors of reading")
    func createSignature_refused_isAnError() async throws {
        try await Machine.with([.cancel]) { machine in
            let context = LAContext()
            let key = try await machine.makeKey(context)
            #expect(await machine.sign(with: key) == errSecUserCanceled)
            context.invalidate()
            #expect(await machine.sign(with: key) == errSecAuthFailed)
            #expect(machine.questionCount == 1)
        }
    }
}

extension Machine {
    /// Generates a key that asks for presence.
    fileprivate func makeKey(_ context: LAContext? = nil) async throws -> SecKey {
        let control = try #require(
            SecAccessControlCreateWithFlags(
                nil,
                kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
                [.privateKeyUsage, .userPresence],
                nil
            )
        )
        var item: [CFString: Any] = [
            kSecAttrIsPermanent: true, kSecAttrApplicationTag: name, kSecAttrLabel: "Release",
            kSecAttrAccessControl: control,
        ]
        item[kSecUseAuthenticationContext] = context
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256, kSecPrivateKeyAttrs: item,
        ]
        return try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
    }

    fileprivate func findKey(_ context: LAContext?) async -> SecKey? {
        await elsewhere {
            var query: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: name, kSecReturnRef: true,
            ]
            query[kSecUseAuthenticationContext] = context
            var result: CFTypeRef?
            _ = SecItemCopyMatching(query as CFDictionary, &result)
            return result as? SecKey
        }
    }

    /// Signs a message on another thread, while the person acts; the code of the error, if any.
    fileprivate func sign(with key: SecKey) async -> OSStatus? {
        await elsewhere {
            var error: Unmanaged<CFError>?
            let message = Data("message".utf8) as CFData
            let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message, &error)
            return signature == nil ? error.map { OSStatus($0.takeRetainedValue().code) } ?? errSecSuccess : nil
        }
    }
}
