import KeychaindDBus
import KeychaindTestSupport
import Testing

struct SlowPrompterTests {
    @Test(
        "#118 #127 Dismiss completes at once, also before the prompter opens its dialog",
        arguments: [PromptGreeting.unanswered, .silent]
    )
    func dismiss_beforeTheDialogIsOpen_completes(greeting: PromptGreeting) async throws {
        try await RunningService.withService(KeychainDaemon.Options(password: nil)) { service in
            let prompter = try await FakePrompter(on: service.bus, greeting: greeting, [])
            let (_, prompt) = try await service.client.unlock([.login])
            try await service.client.show(prompt)
            _ = try await prompter.calls.first("the call for a dialog") { $0 == "BeginPrompting" }
            try await service.client.dismiss(prompt)
            let outcome = try await service.client.completion(of: prompt)
            #expect(outcome.isDismissed)
        }
    }
}
