import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindTestSupport
import Testing

/// Evaluations with an untrusted dialog.
@Suite(.lockedPool, .onLoop)
struct EvaluationTrustTests {
    private static let untrusted = PrompterTrust.passwordsOnly(reason: "the test says so")

    @Test
    @BusActor
    func touchOnly_untrusted_failsWithTheReaderUnused() async throws {
        let fixture = EvaluationFixture()
        fixture.prompter.trust = EvaluationTrustTests.untrusted
        let outcome = await (try fixture.begin("biometryAny")).outcome()
        guard case .failed(let error) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(error.code == .notInteractive)
        #expect(error.cause == .prompterNotTrusted)
        #expect(error.reason.contains("the test says so"))
        #expect(fixture.reader.matches.all.isEmpty)
    }

    @Test
    @BusActor
    func touchOnly_trusted_isSatisfied() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryAny")
        try await fixture.match().end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
    }

    @Test
    @BusActor
    func presence_untrusted_isThePasscodeAlone() async throws {
        let fixture = EvaluationFixture()
        fixture.prompter.trust = EvaluationTrustTests.untrusted
        let evaluation = try fixture.begin("userPresence")
        let question = try await fixture.question()
        #expect(question == fixture.request(.passcode, reader: nil))
        try fixture.type("right")
        #expect(await evaluation.outcome().factors == .passcode)
        #expect(fixture.reader.matches.all.isEmpty)
    }

    @Test
    @BusActor
    func touch_trustIsLostMeanwhile_doesNotCount() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryAny")
        let match = try await fixture.match()
        fixture.prompter.trust = EvaluationTrustTests.untrusted
        match.end(.matched(finger: ""))
        #expect(await evaluation.outcome().code == .notInteractive)
        #expect(fixture.reader.matches.count == 1)
    }

    @Test("A touch while another window is active does not count, and the dialog says what to do")
    @BusActor
    func touch_dialogIsNotActive_doesNotCount() async throws {
        let fixture = EvaluationFixture()
        fixture.prompter.isActive = false
        let evaluation = try fixture.begin("biometryAny")
        let match = try await fixture.match(1)
        let count = fixture.prompter.requests.count
        match.end(.matched(finger: ""))
        let question = try await fixture.question(after: count)
        #expect(question.warning == "Click on this dialog, then use the fingerprint reader again.")
        #expect(question.acceptsTouch)
        let second = try await fixture.match(2)
        fixture.prompter.isActive = true
        second.end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
        #expect(fixture.store.saved.all.allSatisfy { $0.biometricFailures == 0 })
    }

    /// Between two dialogs, the purpose of a touch is not shown.
    @Test
    @BusActor
    func touch_whileAnotherDialogIsOpened_doesNotCount() async throws {
        let fixture = EvaluationFixture()
        fixture.prompter.revises = false
        let evaluation = try fixture.begin("biometryAny")
        let match = try await fixture.match(1)
        fixture.prompter.showsAtOnce = false
        let count = fixture.prompter.requests.count
        match.hint(.notCentered)
        _ = try await fixture.question(after: count)
        match.end(.matched(finger: ""))
        await fixture.settle()
        #expect(fixture.reader.matches.count == 1)
        fixture.prompter.show()
        try await fixture.match(2).end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
    }

    @Test
    @BusActor
    func passwords_untrusted_costProgramsTime() async throws {
        let fixture = EvaluationFixture()
        let programs = MemoryLockoutStore()
        let evaluator = Evaluator(
            biometry: fixture.reader,
            lockout: fixture.lockout,
            untrustedLockout: LockoutKeeper(store: programs),
            isSessionLocked: { false }
        )
        fixture.prompter.trust = EvaluationTrustTests.untrusted
        let request = EvaluationRequest(
            Requirement(policy: try AccessControl(parsing: "devicePasscode").policy, boundSet: nil)
        )
        let evaluation = fixture.begin(request, by: evaluator)
        _ = try await fixture.question()
        try await fixture.typeAndWait("wrong")
        #expect(programs.record?.passcodeFailures == 1)
        #expect(fixture.store.record == nil)
        try fixture.type("right")
        #expect(await evaluation.outcome().factors == .passcode)
        #expect(programs.record?.passcodeFailures == 0)
    }
}
