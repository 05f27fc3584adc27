import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct EvaluationRaceTests {
    @Test
    @BusActor
    func dismissal_whileMatching_letsTheReaderGo() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("userPresence")
        let match = try await fixture.match()
        fixture.prompter.answerNow(.cancelled)
        #expect(await evaluation.outcome().code == .userCancel)
        #expect(match.isCancelled)
        // A late match changes nothing.
        match.end(.matched(finger: ""))
        #expect(await evaluation.outcome().code == .userCancel)
    }

    @Test
    @BusActor
    func dismissalAndMatch_atOnce_theRefusalWins() async throws {
        let fixture = EvaluationFixture()
        for isDismissalFirst in [true, false] {
            let number = fixture.reader.matches.count + 1
            let evaluation = try fixture.begin("userPresence")
            let match = try await fixture.match(number)
            if isDismissalFirst {
                fixture.prompter.answerNow(.cancelled)
                match.end(.matched(finger: ""))
            } else {
                match.end(.matched(finger: ""))
                fixture.prompter.answerNow(.cancelled)
            }
            #expect(await evaluation.outcome().code == .userCancel)
        }
    }

    @Test
    @BusActor
    func match_whileAPasscodeIsTried_waitsForItsEnd() async throws {
        let fixture = EvaluationFixture()
        for (text, expected) in [
            ("wrong", FactorSet.biometryAny), ("right", [.biometryAny, .passcode]),
        ] {
            fixture.passcode.isHeld = true
            let number = fixture.reader.matches.count + 1
            let trials = fixture.passcode.trials.count
            let evaluation = try fixture.begin("userPresence")
            let match = try await fixture.match(number)
            try fixture.type(text)
            _ = try await fixture.passcode.trials.first("a trial", after: trials)
            match.end(.matched(finger: ""))
            // The evaluation ends after the trial.
            let ended = Recorder<EvaluationOutcome>()
            BusActor.start { ended.record(await evaluation.outcome()) }
            await fixture.settle()
            #expect(ended.all.isEmpty)
            fixture.passcode.finish()
            #expect(try await ended.first("the end").factors == expected)
        }
        #expect(fixture.store.record?.passcodeFailures == 0)
        #expect(fixture.store.saved.all.map(\.passcodeFailures).contains(1))
    }

    @Test
    @BusActor
    func passcodeRight_whileAMatchComes_isSatisfiedOnce() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("userPresence")
        let match = try await fixture.match()
        try fixture.type("right")
        match.end(.matched(finger: ""))
        let first = await evaluation.outcome()
        #expect(first.factors?.contains(.passcode) == true)
        #expect(await evaluation.outcome() == first)
    }

    @Test
    @BusActor
    func noMatch_whileAPasscodeIsTried_counts_andTheNextMatchBegins() async throws {
        let fixture = EvaluationFixture()
        fixture.passcode.isHeld = true
        let evaluation = try fixture.begin("userPresence")
        let match = try await fixture.match()
        try fixture.type("wrong")
        _ = try await fixture.passcode.trials.first("a trial")
        match.end(.notMatched)
        await fixture.settle()
        #expect(fixture.store.record?.biometricFailures == 1)
        #expect(fixture.reader.matches.count == 1)
        fixture.passcode.finish()
        try await fixture.match(2).end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
        #expect(fixture.store.record?.passcodeFailures == 1)
    }

    @Test
    @BusActor
    func cancellation_whileAPasscodeIsTried_doesNotWait_andTheTrialStillCounts() async throws {
        let fixture = EvaluationFixture()
        fixture.passcode.isHeld = true
        let evaluation = try fixture.begin("devicePasscode")
        _ = try await fixture.question()
        try fixture.type("wrong")
        _ = try await fixture.passcode.trials.first("a trial")
        fixture.conversation.end()
        #expect(await evaluation.outcome().code == .appCancel)
        fixture.passcode.finish()
        await fixture.settle()
        #expect(fixture.store.record?.passcodeFailures == 1)
    }

    @Test
    @BusActor
    func cancellation_duringTheLookAfterAMatch_wins() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryAny")
        let match = try await fixture.match()
        fixture.reader.whenAsked = { fixture.conversation.end(.bySystem(reason: "locked")) }
        match.end(.matched(finger: ""))
        #expect(await evaluation.outcome().code == .systemCancel)
    }

    @Test
    @BusActor
    func cancellation_whileItWaitsForItsTurn_doesNotWait() async throws {
        let fixture = EvaluationFixture()
        let other = try await fixture.giveTurnToAnother()
        let evaluation = try fixture.begin("userPresence")
        await fixture.settle()
        fixture.conversation.end()
        #expect(await evaluation.outcome().code == .appCancel)
        other.end()
        await fixture.settle()
        #expect(fixture.prompter.events.all.isEmpty)
    }

    @Test
    @BusActor
    func cancellation_again_orAfterTheEnd_changesNothing() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("userPresence")
        _ = try await fixture.match()
        fixture.conversation.end()
        fixture.conversation.end(.bySystem(reason: "later"))
        #expect(await evaluation.outcome().code == .appCancel)
        fixture.conversation.end(.bySystem(reason: "after the end"))
        #expect(await evaluation.outcome().code == .appCancel)
    }

    @Test
    @BusActor
    func withdrawal_byWhoOwnsTheTalk_isAppCancel() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("userPresence")
        let match = try await fixture.match()
        fixture.prompter.answerNow(.withdrawn)
        #expect(await evaluation.outcome().code == .appCancel)
        #expect(match.isCancelled)
    }

    @Test
    @BusActor
    func answer_afterTheQuestionWasTakenBack_isDropped() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("userPresence")
        let match = try await fixture.match()
        // A password typed while the dialog closes is not tried.
        fixture.prompter.passwordOnClose = "right"
        match.end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
        await fixture.settle()
        #expect(fixture.passcode.trials.all.isEmpty)
    }

    @Test
    @BusActor
    func evaluations_oneAfterTheOther_useTheSameTalk() async throws {
        let fixture = EvaluationFixture()
        for number in 1...3 {
            let evaluation = try fixture.begin("biometryAny")
            try await fixture.match(number).end(.matched(finger: ""))
            #expect(await evaluation.outcome().factors == .biometryAny)
        }
    }

    @Test
    @BusActor
    func lockout_readByTwoAtOnce_isReadOnce() async throws {
        let fixture = EvaluationFixture()
        fixture.store.holdsLoading = true
        fixture.store.record = LockoutRecord(biometricFailures: 5)
        let evaluations = [try fixture.begin("biometryAny"), try fixture.begin("biometryAny")]
        await fixture.settle()
        fixture.store.finishLoading()
        for evaluation in evaluations {
            #expect(await evaluation.outcome().code == .biometryLockout)
        }
        #expect(fixture.store.loadCount == 1)
    }
}
