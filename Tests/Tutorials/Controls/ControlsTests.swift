import KeychaindTestSupport
import LocalAuthentication
import SecretServiceClient
import Testing

/// The text's wrong way asks for a finger and protects nothing; its right way is asked for by the keychain.
struct ControlsTests {
    @Test("An item with an access control is read after an authentication, with the text's prompt")
    func password_isReadAfterAnAuthentication() async throws {
        let service = try await RunningService()
        let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
        KeychainBus.$current.withValue(.address(service.bus.address)) {
            #expect(makeAccessControl() != nil)
            let (added, data) = addPassword()
            #expect(added == errSecSuccess)
            #expect(data as? Data == Data("Pullip2020".utf8))
            // The text looks for another account than it adds.
            #expect(findPassword().0 == errSecItemNotFound)
            let query = [kSecClass: kSecClassInternetPassword, kSecAttrAccount: "andyibanez"] as CFDictionary
            let status = SecItemUpdate(query, [kSecAttrAccount: "andyibanez.com"] as CFDictionary)
            #expect(status == errSecSuccess)
            let (found, item) = findPassword()
            #expect(found == errSecSuccess)
            #expect((item as? [String: Any])?[kSecValueData as String] as? Data == Data("Pullip2020".utf8))
            #expect(prompter.questions.all.last?.text("description")?.contains("Access your data") == true)
        }
        await prompter.crash()
    }

    @Test("The biometric unlock asks for a finger, and says that there was one")
    func biometricUnlock_asks() async throws {
        let reader = try await VirtualReader()
        try await reader.enrol()
        var options = KeychainDaemon.Options()
        options.environment = reader.environment
        let service = try await RunningService(options)
        let prompter = try await FakePrompter(on: service.bus, [.hang])
        try await KeychainBus.$current.withValue(.address(service.bus.address)) {
            requestBiometricUnlock()
            let question = try await prompter.questions.first("the question")
            #expect(question.text("description")?.contains("To access your data") == true)
            try await reader.touch("owner")
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
        }
        await prompter.crash()
    }
}
