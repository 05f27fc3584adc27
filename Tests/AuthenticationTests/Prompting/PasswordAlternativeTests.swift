import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindTestSupport
import Testing

/// Another way to answer the dialog for a password, as a touch of a security key is.
@Suite(.lockedPool, .onLoop)
struct PasswordAlternativeTests {
    @BusActor
    private final class Alternative: PasswordAlternative {
        var isTrusted = true
        var isDone = false
        var begins = 0
        var choices: [AlternativeChoice] = []

        func begin(with request: PromptRequest) { if request.acceptsTouch { begins += 1 } }
        func end() async -> Bool { isDone }
        func distrust() { isTrusted = false }
        func choose() async -> AlternativeChoice { choices.removeFirst() }
    }

    @BusActor
    private final class OnePassword: PasswordVerifier {
        var isSet: Bool { true }

        func verify(_ password: consuming SecureBytes) async -> PasswordResult {
            password.withUnsafeBytes { $0.elementsEqual("right".utf8) } ? .right : .wrong()
        }
    }

    private let prompter = ScriptedPrompter()

    /// Asks, and returns whether the password was right; the script answers the dialogs.
    @BusActor
    private func ask(_ alternative: Alternative, _ script: () async throws -> Void) async throws -> String {
        let conversation = PromptQueue(prompter, logger: .silent).makeConversation(for: TestRequester(":1.1"))
        let task = Task.immediate { @BusActor in
            let asked = await conversation.askPassword(
                verifiedBy: OnePassword(),
                countedBy: PasswordLockout { _ in nil },
                or: alternative
            ) {
                PromptRequest(
                    question: .password,
                    message: "Type or touch",
                    touch: alternative.isTrusted ? .waiting : .none
                )
            }
            return switch consume asked {
            case .right: "right"
            case .unanswered: "unanswered"
            case .stopped: "stopped"
            case .failed: "failed"
            }
        }
        try await script()
        return await task.value
    }

    @BusActor
    private func answer(_ text: String) async throws {
        let bytes = try SecureBytes(copying: Array(text.utf8), in: .locked)
        try await prompter.answer(.password(bytes))
    }

    @Test
    @BusActor
    func dialogUntrusted_passwordAloneIsAskedFor() async throws {
        prompter.trust = .passwordsOnly(reason: "the test says so")
        let alternative = Alternative()
        let outcome = try await ask(alternative) { try await answer("right") }
        #expect(outcome == "right" && alternative.begins == 0 && !alternative.isTrusted)
    }

    @Test
    @BusActor
    func emptyPassword_choosesIt_andItsWarningIsShown() async throws {
        let alternative = Alternative()
        alternative.choices = [.again(warning: "not this one"), .done]
        let outcome = try await ask(alternative) {
            try await answer("")
            _ = try await prompter.events.first("the warning") { $0.contains("not this one") }
            try await answer("")
        }
        #expect(outcome == "stopped")
    }

    @Test
    @BusActor
    func alternativeDone_theAnswerOfTheDialogIsNotTried() async throws {
        let alternative = Alternative()
        let outcome = try await ask(alternative) {
            alternative.isDone = true
            try await answer("wrong")
        }
        #expect(outcome == "stopped")
    }
}
