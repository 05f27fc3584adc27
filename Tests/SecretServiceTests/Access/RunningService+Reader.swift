import KeychaindDBus
import KeychaindTestSupport

extension RunningService {
    /// Runs a test with a virtual fingerprint reader, and a prompter that gives these answers; the last one repeats.
    static func withReader(
        _ responses: [PromptResponse] = [.hang],
        isEnrolled: Bool = true,
        _ body: (RunningService, VirtualReader, FakePrompter) async throws -> Void
    ) async throws {
        let reader = try await VirtualReader()
        if isEnrolled { try await reader.enrol() }
        var options = KeychainDaemon.Options()
        options.environment = reader.environment
        try await withService(options) { service in
            let prompter = try await FakePrompter(on: service.bus, responses)
            try await body(service, reader, prompter)
            await prompter.crash()
        }
    }
}

extension SecretServiceProxy {
    /// Creates an item with an access control, and shows the prompt that unlocks it.
    func unlockPrompt(
        ofNewItem accessControl: String,
        session: ObjectPath
    ) async throws -> (item: ObjectPath, prompt: ObjectPath) {
        let item = try await createProtectedItem("Bank", [:], accessControl, session: session)
        let prompt = try await unlock([item]).prompt
        try await show(prompt)
        return (item, prompt)
    }
}
