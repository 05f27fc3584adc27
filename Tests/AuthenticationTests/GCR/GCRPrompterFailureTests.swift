import Foundation
import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Prompters that are missing, crash, hang or send garbage.
@Suite(.lockedPool)
struct GCRPrompterFailureTests {
    private static let short = Duration.milliseconds(100)

    private func expect(
        _ code: PromptError.Code,
        opening greeting: PromptGreeting,
        callTimeout: Duration = .seconds(300)
    ) async throws {
        try await PrompterFixture.run(greeting: greeting, [.hang], callTimeout: callTimeout) { fixture in
            await #expect(throws: PromptError(code, reason: "")) { _ = try await fixture.prompter.open() }
        }
    }

    private func expect(
        _ code: PromptError.Code,
        greeting: PromptGreeting = .ready,
        asking response: PromptResponse,
        _ request: PromptRequest = .unlock,
        timeout: Duration = .seconds(300)
    ) async throws {
        try await PrompterFixture.run(greeting: greeting, [response], timeout: timeout) { fixture in
            let dialog = try await fixture.prompter.open()
            await #expect(throws: PromptError(code, reason: "")) { _ = try await dialog.answer(request) }
            if code != .crashed {
                // Everything sent earlier has arrived at the prompter by then.
                _ = try await fixture.fake.calls.first("the end of the dialog") { $0 == "StopPrompting" }
            }
            // It fails the same way again without a call to the prompter.
            let count = fixture.fake.questions.count
            await #expect(throws: PromptError(code, reason: "")) { _ = try await dialog.answer(request) }
            #expect(fixture.fake.questions.count == count)
        }
    }

    // MARK: Missing

    @BusActor
    private func expectUnavailable(on bus: PrivateBus) async throws {
        let connection = try bus.connect()
        defer { connection.close() }
        let prompter = GCRPrompter(connection: connection, logger: .silent, callTimeout: Patience.limit)
        await #expect(throws: PromptError(.unavailable, reason: "")) { _ = try await prompter.open() }
    }

    @Test
    func open_noPrompter_isUnavailable() async throws {
        try await expectUnavailable(on: PrivateBus())
    }

    @Test(arguments: ["/bin/false", "/nonexistent/gcr-prompter"])
    func open_prompterDoesNotStart_isUnavailable(program: String) async throws {
        let service = ActivatableService(name: FakePrompter.busName, command: [program])
        try await expectUnavailable(on: PrivateBus(services: [service]))
    }

    @Test
    func open_prompterGoesAndNoOtherComes_isUnavailable() async throws {
        try await expect(.unavailable, opening: .crash)
    }

    @Test
    func open_connectionClosed_isUnavailable() async throws {
        try await PrompterFixture.run([.hang]) { fixture in
            fixture.connection.close()
            await #expect(throws: PromptError(.unavailable, reason: "")) { _ = try await fixture.prompter.open() }
        }
    }

    @Test
    func open_prompterComesBack_isOpened() async throws {
        try await PrompterFixture.run([.answer("old")]) { fixture in
            fixture.fake.crash()
            await #expect(throws: PromptError(.unavailable, reason: "")) { _ = try await fixture.prompter.open() }
            let other = try FakePrompter(on: fixture.bus, [.answer("new")])
            let dialog = try await fixture.prompter.open()
            #expect(try await dialog.answer(.unlock) == .password("new"))
            other.crash()
        }
    }

    // MARK: Crashing and hanging

    @Test(arguments: [PromptRequest.unlock, .create, .confirm])
    func ask_prompterCrashes_isCrashed(request: PromptRequest) async throws {
        try await expect(.crashed, asking: .crash, request)
    }

    @Test
    func ask_prompterCrashesWhileQueued_isCrashed() async throws {
        try await PrompterFixture.run(greeting: .silent, [.hang]) { fixture in
            let dialog = try await fixture.prompter.open()
            let answer = Task.immediate { @BusActor in try await dialog.answer(.unlock) }
            fixture.fake.crash()
            await #expect(throws: PromptError(.crashed, reason: "")) { _ = try await answer.value }
        }
    }

    @Test
    func ask_prompterCrashedBetweenQuestions_isCrashed() async throws {
        try await PrompterFixture.run([.answer("first")]) { fixture in
            let dialog = try await fixture.prompter.open()
            #expect(try await dialog.answer(.unlock) == .password("first"))
            fixture.fake.crash()
            await #expect(throws: PromptError(.crashed, reason: "")) { _ = try await dialog.answer(.unlock) }
        }
    }

    @Test
    func ask_nobodyAnswers_timesOut() async throws {
        try await expect(.timedOut, asking: .hang, timeout: GCRPrompterFailureTests.short)
    }

    @Test
    func ask_neverReady_timesOut() async throws {
        try await expect(.timedOut, greeting: .silent, asking: .hang, timeout: GCRPrompterFailureTests.short)
    }

    @Test
    func open_prompterNeverAnswers_timesOut() async throws {
        try await expect(.timedOut, opening: .unanswered, callTimeout: GCRPrompterFailureTests.short)
    }

    // MARK: Errors and garbage

    @Test
    func open_prompterRefuses_fails() async throws {
        try await expect(.failed, opening: .refusal)
    }

    @Test
    func ask_prompterRefuses_fails() async throws {
        try await expect(.failed, asking: .refuse)
    }

    @Test(
        arguments: [
            PromptGreeting.says("", exchange: ""), .says("", exchange: "nonsense"), .says("", exchange: "[sx-aes-1]\n"),
            .says("yes", exchange: "[sx-aes-1]\npublic=Ag==\n"), .says("no", exchange: "[sx-aes-1]\npublic=Ag==\n"),
        ]
    )
    func ask_greetingIsGarbage_fails(greeting: PromptGreeting) async throws {
        try await expect(.failed, greeting: greeting, asking: .hang)
    }

    @Test(
        arguments: [
            "", "nonsense", "[sx-aes-1]\n", "[sx-aes-1]\npublic=Ag==\n", "[sx-aes-1]\npublic=?\nsecret=AA==\niv=AA==\n",
            "[sx-aes-1]\npublic=Aw==\nsecret=AA==\niv=AAAAAAAAAAAAAAAAAAAAAA==\n",
            "[sx-aes-1]\npublic=Aw==\nsecret=AAAAAAAAAAAAAAAAAAAAAA==\niv=AA==\n",
            "[sx-aes-1]\npublic=Aw==\nsecret=\niv=AAAAAAAAAAAAAAAAAAAAAA==\n",
            "[sx-aes-1]\npublic=\nsecret=AAAAAAAAAAAAAAAAAAAAAA==\niv=AAAAAAAAAAAAAAAAAAAAAA==\n",
            "[sx-aes-1]\npublic=AA==\nsecret=AAAAAAAAAAAAAAAAAAAAAA==\niv=AAAAAAAAAAAAAAAAAAAAAA==\n",
            "[sx-aes-1]\npublic=AQ==\nsecret=AAAAAAAAAAAAAAAAAAAAAA==\niv=AAAAAAAAAAAAAAAAAAAAAA==\n",
        ]
    )
    func ask_answerIsGarbage_fails(exchange: String) async throws {
        try await expect(.failed, asking: .says("yes", exchange: exchange))
    }

    @Test
    func ask_publicKeyTooLarge_fails() async throws {
        let key = Data(repeating: 0xFF, count: 192).base64EncodedString()
        let block = Data(count: 16).base64EncodedString()
        let exchange = "[sx-aes-1]\npublic=\(key)\nsecret=\(block)\niv=\(block)\n"
        try await expect(.failed, asking: .says("yes", exchange: exchange))
    }

    @Test
    func ask_answerIsHuge_fails() async throws {
        let exchange = "[sx-aes-1]\npublic=" + String(repeating: "A", count: 1 << 20)
        try await expect(.failed, asking: .says("yes", exchange: exchange))
    }

    @Test(arguments: ["", "maybe", "YES", "yes\n"])
    func ask_replyIsUnknown_fails(reply: String) async throws {
        try await expect(.failed, asking: .says(reply, exchange: "[sx-aes-1]\npublic=Ag==\n"))
    }

    @Test
    func ask_confirmationWithoutExchange_fails() async throws {
        try await expect(.failed, asking: .says("yes", exchange: "nonsense"), .confirm)
    }

    @Test
    func ask_cancelledWithGarbage_isCancelled() async throws {
        try await PrompterFixture.run([.says("no", exchange: "nonsense")]) { fixture in
            let dialog = try await fixture.prompter.open()
            #expect(try await dialog.answer(.unlock) == .cancelled)
        }
    }
}
