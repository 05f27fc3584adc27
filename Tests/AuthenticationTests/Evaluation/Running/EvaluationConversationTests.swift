import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindModel
import KeychaindTestSupport
import Testing

/// Evaluations in real conversations, with a scripted prompter.
@Suite(.lockedPool, .onLoop)
struct EvaluationConversationTests {
    /// An evaluation with a prompter that cannot revise its dialogs.
    @BusActor
    private final class Talk {
        let fixture = EvaluationFixture()
        var prompter: ScriptedPrompter { fixture.prompter }
        var queue: PromptQueue { fixture.queue }
        var conversation: Conversation { fixture.conversation }

        init() {
            prompter.revises = false
        }

        func begin(_ policy: Policy) -> Evaluation {
            fixture.begin(EvaluationRequest(Requirement(policy: policy)))
        }

        func answer(_ text: String, after count: Int = 0) async throws {
            try await prompter.answer(.password(try SecureBytes(copying: Array(text.utf8), in: .locked)), after: count)
        }
    }

    @Test
    @BusActor
    func password_wrongThenRight_inOneDialog() async throws {
        let talk = Talk()
        let evaluation = talk.begin(Policy(.passcode))
        try await talk.answer("wrong")
        let count = talk.prompter.events.count
        try await talk.answer("right", after: count)
        #expect(await evaluation.outcome().factors == .passcode)
        #expect(talk.prompter.events.all == ["open :1.1", "ask Bank ", "ask Bank That password was not right."])
        #expect(!talk.conversation.isEnded)
    }

    @Test
    @BusActor
    func touch_matches_takesTheQuestionBack_andTheTalkGoesOn() async throws {
        let talk = Talk()
        for number in 1...2 {
            let evaluation = talk.begin(Constraint.userPresence.policy)
            try await talk.fixture.match(number).end(.matched(finger: ""))
            #expect(await evaluation.outcome().factors == .biometryAny)
            #expect(talk.prompter.events.all.last == "close")
        }
        #expect(!talk.conversation.isEnded)
        #expect(talk.prompter.dialogs.count == 2)
    }

    @Test
    @BusActor
    func touch_slowPrompter_isNotWaitedForBeforeTheDialogIsThere() async throws {
        let talk = Talk()
        talk.prompter.isSlow = true
        let evaluation = talk.begin(Policy(.biometryAny))
        _ = try await talk.prompter.events.first("the opening")
        #expect(talk.fixture.reader.matches.all.isEmpty)
        talk.prompter.letOpen()
        try await talk.fixture.match().end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
    }

    @Test
    @BusActor
    func hint_prompterThatCannotRevise_opensAnotherDialog() async throws {
        let talk = Talk()
        let evaluation = talk.begin(Policy(.biometryAny))
        let match = try await talk.fixture.match()
        match.hint(.retry)
        _ = try await talk.prompter.events.first("the hint") { $0 == "ask Bank " + BiometryHint.retry.text.english }
        match.end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
        #expect(talk.prompter.dialogs.count == 2)
        #expect(talk.fixture.reader.matches.count == 1)
    }

    @Test
    @BusActor
    func hint_whereAPasswordMayBeHalfTyped_keepsTheDialog() async throws {
        let talk = Talk()
        let evaluation = talk.begin(Constraint.userPresence.policy)
        let match = try await talk.fixture.match()
        match.hint(.retry)
        match.hint(.notCentered)
        try await talk.answer("wrong")
        let count = talk.prompter.events.count
        try await talk.answer("right", after: count)
        #expect(await evaluation.outcome().factors == .passcode)
        let questions = ["ask Bank ", "ask Bank That password was not right."]
        #expect(talk.prompter.events.all.filter { $0 != "close" } == ["open :1.1"] + questions)
    }

    @Test
    @BusActor
    func touch_doesNotMatch_isSaidInAnotherDialog() async throws {
        let talk = Talk()
        let evaluation = talk.begin(Constraint.userPresence.policy)
        let match = try await talk.fixture.match()
        match.hint(.retry)
        match.end(.notMatched)
        _ = try await talk.prompter.events.first("the warning") { $0.contains("not recognised") }
        #expect(talk.prompter.dialogs.count == 2)
        try await talk.fixture.match(2).end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
    }

    @Test
    @BusActor
    func fallback_andCancel_areToldApart() async throws {
        let first = Talk()
        let fallback = first.begin(Policy(.biometryAny))
        try await first.prompter.answer(.fallback)
        #expect(await fallback.outcome().code == .userFallback)
        #expect(!first.conversation.isEnded)

        let second = Talk()
        let cancelled = second.begin(Policy(.biometryAny))
        try await second.prompter.answer(.cancelled)
        #expect(await cancelled.outcome().code == .userCancel)
    }

    @Test
    @BusActor
    func confirmation_thatWasNotAsked_isSystemCancel() async throws {
        let talk = Talk()
        let evaluation = talk.begin(Policy(.biometryAny))
        try await talk.prompter.answer(.confirmed)
        #expect(await evaluation.outcome().code == .systemCancel)
    }

    @Test(
        arguments: [
            (PromptError.Code.unavailable, AuthenticationError.Code.notInteractive), (.crashed, .systemCancel),
            (.timedOut, .systemCancel), (.interrupted, .systemCancel), (.failed, .systemCancel),
            (.tooMany, .systemCancel),
        ]
    )
    @BusActor
    func prompter_failsToOpen_isItsError(failure: PromptError.Code, code: AuthenticationError.Code) async throws {
        let talk = Talk()
        talk.prompter.isSlow = true
        let evaluation = talk.begin(Constraint.userPresence.policy)
        _ = try await talk.prompter.events.first("the opening")
        talk.prompter.failure = PromptError(failure, reason: "no")
        talk.prompter.letOpen()
        #expect(await evaluation.outcome().code == code)
        #expect(talk.fixture.reader.matches.all.isEmpty)
    }

    @Test
    @BusActor
    func prompter_isNotThere_asksNobody() async throws {
        let talk = Talk()
        talk.prompter.failure = PromptError(.unavailable, reason: "no")
        #expect(await talk.begin(Constraint.userPresence.policy).outcome().code == .notInteractive)
        #expect(talk.prompter.events.all.isEmpty)
    }

    @Test
    @BusActor
    func owner_endsTheTalk_isAppCancel() async throws {
        let talk = Talk()
        let evaluation = talk.begin(Constraint.userPresence.policy)
        let match = try await talk.fixture.match()
        talk.conversation.end()
        #expect(await evaluation.outcome().code == .appCancel)
        #expect(match.isCancelled)

        #expect(await talk.begin(Constraint.userPresence.policy).outcome().code == .appCancel)
    }

    @Test
    @BusActor
    func system_endsTheTalk_isSystemCancel() async throws {
        let talk = Talk()
        let evaluation = talk.begin(Constraint.userPresence.policy)
        _ = try await talk.fixture.match()
        talk.conversation.end(.bySystem(reason: "the session was locked"))
        #expect(await evaluation.outcome().code == .systemCancel)
        #expect(await talk.begin(Constraint.userPresence.policy).outcome().code == .systemCancel)
    }

    @Test
    @BusActor
    func turns_anotherTalkFirst_areWaitedFor() async throws {
        let talk = Talk()
        let other = talk.queue.makeConversation(for: TestRequester(":1.2"))
        #expect(try await other.begin())
        let evaluation = talk.begin(Policy(.biometryAny))
        #expect(talk.fixture.reader.matches.all.isEmpty)
        other.end()
        try await talk.fixture.match().end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
    }

    @Test
    @BusActor
    func cancellation_whileAnotherTalkHasTheTurn_freesThisOne() async throws {
        let talk = Talk()
        let other = talk.queue.makeConversation(for: TestRequester(":1.2"))
        #expect(try await other.begin())
        let evaluation = talk.begin(Policy(.biometryAny))
        talk.conversation.end(.bySystem(reason: "the session was locked"))
        #expect(await evaluation.outcome().code == .systemCancel)
        other.end()
        let third = talk.queue.makeConversation(for: TestRequester(":1.3"))
        #expect(try await third.begin())
    }
}
