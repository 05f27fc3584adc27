import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindTestSupport
import Testing

/// Conversations with a prompter that is trusted with passwords only.
@Suite(.lockedPool, .onLoop)
struct PrompterTrustTests {
    private let prompter = ScriptedPrompter()

    @BusActor
    private func makeConversation() -> Conversation {
        PromptQueue(prompter, logger: .silent).makeConversation(for: TestRequester(":1.1"))
    }

    private static let untrusted = PrompterTrust.passwordsOnly(reason: "the test says so")

    @Test
    @BusActor
    func confirmation_untrusted_isNotPutAndEndsTheConversation() async throws {
        prompter.trust = PrompterTrustTests.untrusted
        let conversation = makeConversation()
        await #expect(throws: PromptError(.notTrusted, reason: "")) { _ = Answer(try await conversation.ask(.confirm)) }
        #expect(conversation.isEnded)
        #expect(!prompter.events.all.contains { $0.hasPrefix("ask ") })
    }

    @Test(arguments: [PromptRequest.confirm, .touchOrElse])
    @BusActor
    func answer_trustIsLostMeanwhile_doesNotCount(request: PromptRequest) async throws {
        let conversation = makeConversation()
        let answer = try await prompter.ask(request, in: conversation)
        prompter.trust = PrompterTrustTests.untrusted
        prompter.dialogs[0].answer(request.question == .confirmation ? .confirmed : .fallback)
        await #expect(throws: PromptError(.notTrusted, reason: "")) { try await answer.value }
        #expect(conversation.isEnded == (request.question == .confirmation))
    }

    @Test
    @BusActor
    func password_untrusted_isAskedForAndSaidToBe() async throws {
        prompter.trust = PrompterTrustTests.untrusted
        let conversation = makeConversation()
        let answer = try await prompter.ask(.unlock, in: conversation)
        prompter.dialogs[0].answer(.password(try SecureBytes(count: 1, in: .locked)))
        #expect(try await answer.value == .password("\u{0}"))
        #expect(conversation.trustOfAnswer == PrompterTrustTests.untrusted)
    }

    @Test("The choice beside a password counts only if the dialog is trusted, when it is answered, too")
    @BusActor
    func choice_untrusted_doesNotCount() async throws {
        let conversation = makeConversation()
        for trust in [PrompterTrust.trusted, PrompterTrustTests.untrusted] {
            let answer = try await prompter.ask(.unlock, in: conversation)
            prompter.trust = trust
            prompter.dialogs[0].hasChosen = true
            prompter.dialogs[0].answer(.password(try SecureBytes(count: 1, in: .locked)))
            #expect(try await answer.value == .password("\u{0}"))
            #expect(conversation.hasChosen == (trust == .trusted))
        }
    }

    @Test
    @BusActor
    func choice_untrusted_isNotOffered() async throws {
        let choice = PromptRequest.Choice<Text>(label: "Always", explanation: "You are not asked again.")
        let request = PromptRequest(question: .password, message: "The password", choice: choice)
        let conversation = makeConversation()
        for trust in [PrompterTrust.trusted, PrompterTrustTests.untrusted] {
            prompter.trust = trust
            let answer = try await prompter.ask(request, in: conversation)
            prompter.dialogs[0].answer(.password(try SecureBytes(count: 1, in: .locked)))
            #expect(try await answer.value == .password("\u{0}"))
            #expect((prompter.requests.all.last?.choice == nil) == (trust != .trusted))
        }
    }

    @Test
    @BusActor
    func passwordOrTouch_untrusted_isNotPutAndAPasswordAloneMayFollow() async throws {
        prompter.trust = PrompterTrustTests.untrusted
        let conversation = makeConversation()
        let either = PromptRequest(question: .password, message: "Touch or type", touch: .waiting)
        await #expect(throws: PromptError(.notTrusted, reason: "")) { _ = Answer(try await conversation.ask(either)) }
        let answer = try await prompter.ask(.unlock, in: conversation)
        prompter.dialogs[0].answer(.cancelled)
        #expect(try await answer.value == .cancelled)
    }

    @Test
    @BusActor
    func end_whileTrustIsLookedFor_isWithdrawn() async throws {
        let conversation = makeConversation()
        prompter.whenJudged = { conversation.end() }
        #expect(Answer(try await conversation.ask(.confirm)) == .withdrawn)
        #expect(!prompter.events.all.contains { $0.hasPrefix("ask ") })
    }

    @Test
    @BusActor
    func end_whileTrustIsLookedForAgain_isWithdrawn() async throws {
        let conversation = makeConversation()
        let answer = try await prompter.ask(.confirm, in: conversation)
        prompter.whenJudged = { conversation.end() }
        prompter.dialogs[0].answer(.confirmed)
        #expect(try await answer.value == .withdrawn)
    }

    @Test
    @BusActor
    func revise_whileTrustIsLookedFor_isPutInTheNewWords() async throws {
        let conversation = makeConversation()
        prompter.whenJudged = { [prompter] in
            prompter.whenJudged = nil
            conversation.revise(PromptRequest(question: .confirmation, message: "Other words"))
        }
        let answer = try await prompter.ask(.confirm, in: conversation)
        #expect(prompter.events.all.filter { $0.hasPrefix("ask ") } == ["ask Other words "])
        prompter.dialogs.last?.answer(.confirmed)
        #expect(try await answer.value == .confirmed)
    }

    @Test
    @BusActor
    func revise_touchBeginsToCount_isPutAnew() async throws {
        prompter.revises = true
        let conversation = makeConversation()
        let answer = try await prompter.ask(.unlock, in: conversation)
        prompter.trust = PrompterTrustTests.untrusted
        let isKept = conversation.revise(
            PromptRequest(question: .password, message: "Touch or type", touch: .waiting)
        )
        #expect(!isKept)
        await #expect(throws: PromptError(.notTrusted, reason: "")) { try await answer.value }
    }

    @Test
    @BusActor
    func trust_noDialog_isNone() async {
        #expect(await makeConversation().trust().objection != nil)
    }
}
