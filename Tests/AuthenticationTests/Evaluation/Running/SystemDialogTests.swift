import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct SystemDialogTests {
    @Test
    @BusActor
    func presence_isAskedBySystem_withOurMessage() async throws {
        let system = FakeSystemDialog()
        let fixture = EvaluationFixture(systemDialog: system)
        // The system shows this dialog without a prompter.
        fixture.prompter.failure = PromptError(.unavailable, reason: "none")
        let evaluation = try fixture.begin("userPresence")
        let showing = try await system.showings.first("the dialog")
        #expect(showing.message == "the message")
        showing.end(nil)
        // The proof has no key.
        #expect(await evaluation.outcome() == .satisfied(Proofs(factors: .passcode)))
        #expect(fixture.prompter.events.all.isEmpty)
        #expect(fixture.reader.matches.all.isEmpty)
    }

    @Test(arguments: [AuthenticationError.Code.userCancel, .authenticationFailed, .systemCancel])
    @BusActor
    func refusal_isItsError(code: AuthenticationError.Code) async throws {
        let system = FakeSystemDialog()
        let fixture = EvaluationFixture(systemDialog: system)
        let evaluation = try fixture.begin("userPresence")
        try await system.showings.first("the dialog").end(AuthenticationError(code, reason: "no"))
        #expect(await evaluation.outcome().code == code)
    }

    @Test
    @BusActor
    func cancellation_takesItOffTheScreen() async throws {
        let system = FakeSystemDialog()
        let fixture = EvaluationFixture(systemDialog: system)
        let evaluation = try fixture.begin("userPresence")
        let showing = try await system.showings.first("the dialog")
        fixture.conversation.end()
        #expect(await evaluation.outcome().code == .appCancel)
        #expect(showing.isCancelled)
    }

    @Test
    @BusActor
    func endOfTheTalk_isToldAtOnce_andTheTurnIsHeldUntilItIsOffTheScreen() async throws {
        let system = FakeSystemDialog()
        let fixture = EvaluationFixture(systemDialog: system)
        let evaluation = try fixture.begin("userPresence")
        let showing = try await system.showings.first("the dialog")
        showing.stays = true
        let turns = Recorder<Bool>()
        let next = fixture.queue.makeConversation(for: TestRequester(":1.2"))
        BusActor.start { turns.record((try? await next.begin()) == true) }
        fixture.conversation.end()
        #expect(await evaluation.outcome().code == .appCancel)
        #expect(showing.isCancelled)
        // Success after the cancellation does not count.
        showing.end(nil)
        #expect(await evaluation.outcome().code == .appCancel)
        await fixture.settle()
        #expect(turns.all.isEmpty)
        showing.vanish()
        #expect(try await turns.first("the turn of the next conversation"))
    }

    @Test(arguments: ["devicePasscode", "userPresence and applicationPassword"])
    @BusActor
    func otherPolicies_areAskedByUs(accessControl: String) async throws {
        let system = FakeSystemDialog()
        let fixture = EvaluationFixture(systemDialog: system)
        let evaluation = try fixture.begin(accessControl)
        _ = try await fixture.question()
        fixture.prompter.answerNow(.cancelled)
        #expect(await evaluation.outcome().code == .userCancel)
        #expect(system.showings.all.isEmpty)
    }

    @Test
    @BusActor
    func notThere_isAskedByUs() async throws {
        let system = FakeSystemDialog()
        let fixture = EvaluationFixture(systemDialog: system)
        system.isThere = false
        let evaluation = try fixture.begin("userPresence")
        _ = try await fixture.question()
        fixture.prompter.answerNow(.cancelled)
        #expect(await evaluation.outcome().code == .userCancel)
        #expect(system.showings.all.isEmpty)
    }

    @Test
    @BusActor
    func fingersLocked_isAskedByUs() async throws {
        let system = FakeSystemDialog()
        let fixture = EvaluationFixture(systemDialog: system)
        fixture.store.record = LockoutRecord(biometricFailures: 5)
        let evaluation = try fixture.begin("userPresence")
        #expect(try await fixture.question() == fixture.request(.passcode, reader: nil))
        fixture.prompter.answerNow(.cancelled)
        #expect(await evaluation.outcome().code == .userCancel)
        #expect(system.showings.all.isEmpty)
    }
}
