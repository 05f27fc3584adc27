import KeychaindDBus
import KeychaindTestSupport
import LocalAuthentication
import SecretServiceClient
import SwiftUI
import Testing

/// The text's code for contexts, for keychain items, and for a view, does what the text says.
struct BiometricsTests {
    @Test("A person signs in by password where there is no reader, and sees why biometry is not there")
    func signIn_withPasscode() async throws {
        try await withPerson([.answer("password"), .cancel, .answer("wrong")]) { prompter in
            let log = Recorder<String>()
            let screens = Screens(
                proceed: { log.record("proceed") },
                show: { log.record($0) },
                unavailable: { log.record("unavailable \($0?.code ?? 0)") }
            )
            try await signIn(screens)
            showBiometry(screens)
            let context = customisedContext()
            // Cancelled, silently.
            try await authenticate(context, "to see it", screens)
            #expect(prompter.questions.all.last?.text("cancel-label") == "Use Password")
            try await authenticate(context, "to see it", screens)
            #expect(log.all == ["proceed", "unavailable -6", "again"])
            #expect(fingers(context) == nil)
            logOut(context)
            #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        }
    }

    @Test("With a reader: what it is, and the fingers' state")
    func showBiometry_withReader() async throws {
        let reader = try await VirtualReader()
        try await reader.enrol()
        try await withPerson([.hang], reader.environment) { _ in
            let log = Recorder<String>()
            showBiometry(Screens(show: { log.record($0) }))
            #expect(log.all == ["fingerprint"])
            #expect(fingers(LAContext())?.count == 32)
        }
    }

    @Test("A token for the current fingers is read by touch")
    func token_isReadByTouch() async throws {
        let reader = try await VirtualReader()
        try await reader.enrol()
        try await withPerson([.hang], reader.environment) { _ in
            let bus = KeychainBus.current
            addToken { #expect($0 == errSecSuccess) }
            async let token = BlockingThread.run {
                KeychainBus.$current.withValue(bus) { () -> Data? in
                    let (status, result) = readToken()
                    return status == errSecSuccess ? result as? Data : nil
                }
            }
            try await reader.touch("owner")
            #expect(await token == Data("secret-token".utf8))
        }
    }

    @MainActor
    @Test("The view shows the secret to who authenticates")
    func view_showsTheSecret() async throws {
        try await withPerson([.cancel, .answer("password")]) { prompter in
            let service = BiometricService()
            service.checkAvailability()
            #expect(service.biometryType == .none && service.error != nil)
            await service.authenticate()
            #expect(!service.isAuthenticated)
            await service.authenticate()
            #expect(service.isAuthenticated)
            service.logout()
            #expect(!service.isAuthenticated)

            let view = ContentView()
            view.appear()
            #expect(view.texts.isEmpty)
            #expect(view.press("Authenticate"))
            _ = try await prompter.questions.first("the view's question", after: 2)
        }
    }

    @Test("What is behind the protocol can be exchanged for a test's own")
    func evaluator_isExchanged() async throws {
        let evaluator: any BiometryEvaluating = FailingEvaluator()
        #expect(evaluator.biometryType == .touchID)
        await #expect(throws: LAError.self) {
            try await evaluator.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "to see it")
        }
        try await withPerson([.answer("password")]) { _ in
            let evaluator: any BiometryEvaluating = LAContext()
            #expect(evaluator.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            let isProved = try await evaluator.evaluatePolicy(
                .deviceOwnerAuthentication,
                localizedReason: "to see it"
            )
            #expect(isProved)
        }
    }

    private nonisolated(nonsending) func withPerson(
        _ responses: [PromptResponse],
        _ environment: [String: String?] = [:],
        _ body: (FakePrompter) async throws -> Void
    ) async throws {
        var options = KeychainDaemon.Options()
        options.environment = environment
        let service = try await RunningService(options)
        let prompter = try await FakePrompter(on: service.bus, responses)
        try await KeychainBus.$current.withValue(.address(service.bus.address)) { try await body(prompter) }
        await prompter.crash()
    }
}
