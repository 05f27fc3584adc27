import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct EvaluationRefusalTests {
    @Test
    @BusActor
    func noPrompter_evenWithAReader_releasesNothing() async throws {
        let fixture = EvaluationFixture()
        fixture.prompter.failure = PromptError(.unavailable, reason: "none")
        for accessControl in ["userPresence", "biometryAny", "devicePasscode"] {
            #expect(try await fixture.begin(accessControl).outcome().code == .notInteractive)
        }
        #expect(fixture.reader.matches.all.isEmpty)
        #expect(fixture.prompter.events.all.isEmpty)
    }

    @Test
    @BusActor
    func noInteraction_asksNobody_butTakesWhatIsProved() async throws {
        let fixture = EvaluationFixture()
        let refused = try fixture.begin("userPresence", isInteractionAllowed: false)
        #expect(await refused.outcome().code == .notInteractive)
        let proved = try fixture.begin("userPresence", proved: .biometryAny, isInteractionAllowed: false)
        #expect(await proved.outcome() == .satisfied(.none))
        #expect(fixture.prompter.events.all.isEmpty)
    }

    @Test(
        arguments: [
            (BiometryAvailability.notEnrolled, AuthenticationError.Code.biometryNotEnrolled),
            (.notAvailable(reason: "no service"), .biometryNotAvailable), (.disconnected, .biometryDisconnected),
        ]
    )
    @BusActor
    func reader_notUsable_readerOnly_saysWhy(state: BiometryAvailability, code: AuthenticationError.Code) async throws {
        let fixture = EvaluationFixture()
        fixture.reader.answer = state
        #expect(try await fixture.begin("biometryAny").outcome().code == code)
        let evaluation = try fixture.begin("userPresence")
        #expect(try await fixture.question() == fixture.request(.passcode, reader: nil))
        fixture.prompter.answerNow(.cancelled)
        #expect(await evaluation.outcome().code == .userCancel)
    }

    @Test
    @BusActor
    func reader_policyWithoutFingers_isNotAsked() async throws {
        let fixture = EvaluationFixture()
        fixture.reader.whenAsked = { Issue.record("the reader was asked") }
        let evaluation = try fixture.begin("devicePasscode")
        _ = try await fixture.question()
        try fixture.type("right")
        #expect(await evaluation.outcome().factors == .passcode)
    }

    @Test
    @BusActor
    func sessionLocked_before_asksNobody() async throws {
        let fixture = EvaluationFixture()
        fixture.isSessionLocked = true
        #expect(try await fixture.begin("userPresence").outcome().code == .notInteractive)
        #expect(fixture.prompter.events.all.isEmpty)
    }

    @Test(
        arguments: [
            (PromptError.Code.unavailable, AuthenticationError.Code.notInteractive), (.crashed, .systemCancel),
        ]
    )
    @BusActor
    func prompter_fails_isItsError(failure: PromptError.Code, code: AuthenticationError.Code) async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("userPresence")
        let match = try await fixture.match()
        fixture.prompter.dialogs.last?.fail(PromptError(failure, reason: "crashed"))
        #expect(await evaluation.outcome().code == code)
        #expect(match.isCancelled)
    }

    @Test
    @BusActor
    func silence_endsIt_andEveryEventGivesTheTimeAgain() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("userPresence")
        let match = try await fixture.match()
        #expect(fixture.timers.delays == [EvaluationLimits().silence])
        let count = fixture.prompter.requests.count
        match.hint(.retry)
        _ = try await fixture.question(after: count)
        #expect(fixture.timers.delays == [EvaluationLimits().silence])
        fixture.timers.fire()
        #expect(await evaluation.outcome().code == .systemCancel)
        #expect(match.isCancelled)
        #expect(fixture.prompter.events.all.last == "close")
    }

    @Test
    @BusActor
    func turn_neverComes_isItsReason() async throws {
        let fixture = EvaluationFixture(queueLimit: 0)
        let other = try await fixture.giveTurnToAnother()
        defer { other.end() }
        #expect(try await fixture.begin("userPresence").outcome().code == .systemCancel)
        #expect(fixture.reader.matches.all.isEmpty)
        #expect(fixture.prompter.events.all.isEmpty)
    }

    @Test
    @BusActor
    func turn_comesLate_looksAgain() async throws {
        let fixture = EvaluationFixture()
        let other = try await fixture.giveTurnToAnother()
        let evaluation = try fixture.begin("biometryAny")
        await fixture.settle()
        fixture.reader.answer = .notEnrolled
        other.end()
        #expect(await evaluation.outcome().code == .biometryNotEnrolled)
        #expect(fixture.reader.matches.all.isEmpty)
    }

    @Test
    @BusActor
    func verdict_asksNobody() async throws {
        let fixture = EvaluationFixture()
        fixture.store.record = LockoutRecord(biometricFailures: 5)
        let evaluator = fixture.evaluator
        let biometrics = Requirement(policy: Policy(.biometryAny))
        let owner = Requirement(policy: Constraint.userPresence.policy)
        let locked = await evaluator.verdict(on: biometrics, isPasscodeSet: true, prompterTrust: .trusted)
        #expect(locked == .denied(AuthenticationError(.biometryLockout, reason: "")))
        let passcode = await evaluator.verdict(on: owner, isPasscodeSet: true, prompterTrust: .trusted)
        #expect(passcode == .mustAuthenticate(ProofPlan([.passcode])))
        await fixture.lockout.passcodeWasRight()
        let unlocked = await evaluator.verdict(on: biometrics, isPasscodeSet: false, prompterTrust: .trusted)
        #expect(unlocked == .mustAuthenticate(ProofPlan([.biometryAny])))
        #expect(fixture.store.record?.biometricFailures == 0)
        #expect(fixture.prompter.events.all.isEmpty)
    }
}
