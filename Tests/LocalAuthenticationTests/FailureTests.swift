import Foundation
import KeychaindTestSupport
import LocalAuthentication
import SecretServiceClient
import Testing

/// No keychain, another provider, or a provider that ends.
struct FailureTests {
    @Test("Without a bus or a provider, no policy can be evaluated")
    func noBusAndNoProvider_areToldApartByPolicy() async throws {
        await KeychainBus.$current.withValue(.address("unix:path=/nonexistent")) { await Self.expectNoAuthentication() }
        let bus = try await PrivateBus()
        await KeychainBus.$current.withValue(.address(bus.address)) { await Self.expectNoAuthentication() }
    }

    @Test("With a provider without authentication, passwords work and contexts fail")
    func otherProvider_hasNoAuthentication() async throws {
        let provider = try await TestedProvider.gnomeKeyring.shared()
        try await KeychainBus.$current.withValue(.address(provider.bus.address)) {
            await Self.expectNoAuthentication()
            let service = UUID().uuidString
            let item: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: service]
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, .userPresence, nil)
            )
            let protected = item.merging([kSecAttrAccessControl: control]) { $1 } as CFDictionary
            #expect(SecItemAdd(protected, nil) == errSecUnimplemented)
            // All else works, with and without a context.
            let secret: [CFString: Any] = [
                kSecValueData: Data("1".utf8), kSecUseAuthenticationContext: LAContext(),
            ]
            #expect(SecItemAdd(item.merging(secret) { $1 } as CFDictionary, nil) == errSecSuccess)
            var result: CFTypeRef?
            let query: [CFString: Any] = [
                kSecReturnData: true, kSecUseAuthenticationContext: LAContext(), kSecUseOperationPrompt: "to see it",
            ]
            #expect(SecItemCopyMatching(item.merging(query) { $1 } as CFDictionary, &result) == errSecSuccess)
            #expect(result as? Data == Data("1".utf8))
        }
    }

    @Test("A locked keychain of another provider is unlocked with a context")
    func otherProvider_locked_isUnlocked() async throws {
        try await TestedProvider.gnomeKeyring.withProvider { provider in
            let client = try await SecretClient.connect(.init(bus: .address(provider.bus.address)))
            let login = try #require(try await client.collection(alias: "login"))
            try await client.setAlias("default", to: login)
            let prompter = try await provider.answerPrompts(.answer("password"))
            try await KeychainBus.$current.withValue(.address(provider.bus.address)) {
                let item: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "s"]
                #expect(
                    SecItemAdd(item.merging([kSecValueData: Data("1".utf8)]) { $1 } as CFDictionary, nil)
                        == errSecSuccess
                )
                try await login.lock()
                var result: CFTypeRef?
                let query: [CFString: Any] = [kSecReturnData: true, kSecUseAuthenticationContext: LAContext()]
                #expect(SecItemCopyMatching(item.merging(query) { $1 } as CFDictionary, &result) == errSecSuccess)
                #expect(try await !login.isLocked())
            }
            await prompter.crash()
        }
    }

    @Test("The end of the provider during a question ends the evaluation")
    func providerDies_isSystemCancel() async throws {
        try await Machine.with([.hang]) { machine in
            #expect(machine.add() == errSecSuccess)
            let context = LAContext()
            async let evaluation = context.evaluation()
            _ = try await machine.waitForQuestion()
            try await machine.service.daemon.kill()
            #expect(await evaluation == .systemCancel)
        }
        try await Machine.with([.hang]) { machine in
            #expect(machine.add() == errSecSuccess)
            async let reading = machine.read()
            _ = try await machine.waitForQuestion()
            try await machine.service.daemon.kill()
            #expect(await reading == .failed(errSecNotAvailable))
        }
    }

    @Test("After a restart of the provider, a context works without its authentication")
    func providerRestarts_contextGoesOn() async throws {
        try await Machine.with { machine in
            #expect(machine.add() == errSecSuccess)
            let context = LAContext()
            #expect(await context.evaluation() == nil)
            try await machine.service.daemon.restart()
            #expect(await machine.read(context: context) == .secret("anna"))
            #expect(machine.questionCount == 2)
        }
    }

    @Test("An evaluation without an answer ends at the time limit")
    func nobodyAnswers_timesOut() async throws {
        try await Machine.with([.hang]) { machine in
            #expect(machine.add() == errSecSuccess)
            let withdrawn = machine.prompter.calls
            // Until the dialog was open at the time limit.
            for timeout in Patience.growing where !withdrawn.all.contains("BeginPrompting") {
                await KeychainBus.$promptTimeout.withValue(timeout) {
                    #expect(await LAContext().evaluation() == .systemCancel)
                    #expect(await machine.read() == .failed(errSecNotAvailable))
                }
            }
            _ = try await withdrawn.first("the end of the dialog") { $0 == "StopPrompting" }
        }
    }

    @Test("The end of the bus ends an evaluation, and the next call uses a new connection")
    func bus_goes_isSystemCancel() async throws {
        try await Machine.with([.hang]) { machine in
            let context = LAContext()
            #expect(context.obstacle(to: .deviceOwnerAuthentication) == nil)
            async let evaluation = context.evaluation()
            _ = try await machine.waitForQuestion()
            try await machine.service.bus.kill()
            let outcome = await evaluation
            // No second try, since a person may have answered.
            #expect(outcome == .systemCancel)
            #expect(context.obstacle(to: .deviceOwnerAuthentication) == .passcodeNotSet)
        }
    }

    @Test("Invalidating a context ends an evaluation that is starting")
    func invalidate_duringTheStart_endsTheEvaluation() async throws {
        try await Machine.with([.hang]) { machine in
            for count in 0..<100 {
                let context = LAContext()
                async let outcome = KeychainBus.$promptTimeout.withValue(Patience.limit) { await context.evaluation() }
                for _ in 0..<count { await Task.yield() }
                context.invalidate()
                let code = await outcome
                try #require(code == .appCancel || code == .invalidContext)
            }
        }
    }

    @Test("Contexts are released at their end, so their number in time is unlimited")
    func contexts_areGivenBack() async throws {
        try await Machine.with { machine in
            for _ in 0..<80 {
                let context = LAContext()
                context.interactionNotAllowed = true
                #expect(await context.evaluation() == .notInteractive)
            }
        }
    }

    private static func expectNoAuthentication() async {
        let context = LAContext()
        #expect(context.obstacle(to: .deviceOwnerAuthentication) == .passcodeNotSet)
        #expect(context.obstacle(to: .deviceOwnerAuthenticationWithBiometrics) == .biometryNotAvailable)
        #expect(await context.evaluation() == .passcodeNotSet)
        #expect(await context.evaluation(.deviceOwnerAuthenticationWithBiometrics) == .biometryNotAvailable)
        #expect(context.biometryType == .none)
        #expect(context.domainState.stateHash == nil)
    }
}
