import KeychaindAuthentication
import KeychaindDBus
import KeychaindLanguage
import KeychaindModel
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct EvaluationTouchTests {
    @Test
    @BusActor
    func touch_matches_satisfies() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("userPresence")
        let question = try await fixture.question()
        #expect(question == fixture.request(.passcode, reader: .touch))
        try await fixture.match().end(.matched(finger: "right-index-finger"))
        let outcome = await evaluation.outcome()
        #expect(outcome == .satisfied(Proofs(factors: .biometryAny, matchedSet: FakeReader.set)))
        #expect(fixture.prompter.events.all.last == "close")
        #expect(fixture.passcode.trials.all.isEmpty)
        #expect(fixture.timers.delays.isEmpty)
    }

    @Test
    @BusActor
    func touch_beforeTheDialogIsThere_isNotWaitedFor() async throws {
        let fixture = EvaluationFixture()
        fixture.prompter.showsAtOnce = false
        let evaluation = try fixture.begin("biometryAny")
        _ = try await fixture.question()
        #expect(fixture.reader.matches.all.isEmpty)
        fixture.prompter.show()
        fixture.prompter.show()
        try await fixture.match().end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
        #expect(fixture.reader.matches.count == 1)
    }

    @Test
    @BusActor
    func touch_doesNotMatch_mayBeRepeated() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryAny")
        _ = try await fixture.question()
        let count = fixture.prompter.requests.count
        try await fixture.match(1).end(.notMatched)
        #expect(try await fixture.question(after: count).warning.contains("not recognised"))
        try await fixture.match(2).end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
        #expect(fixture.store.saved.all.map(\.biometricFailures) == [1, 0])
    }

    @Test
    @BusActor
    func touch_fiveTimesWrong_biometryOnly_isLockedOut() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryAny")
        try await fixture.failTouches(1...5)
        #expect(await evaluation.outcome().code == .biometryLockout)
        #expect(fixture.store.record?.biometricFailures == 5)
        #expect(fixture.reader.matches.count == 5)
        // The next evaluation asks nothing.
        let count = fixture.prompter.events.count
        #expect(try await fixture.begin("biometryAny").outcome().code == .biometryLockout)
        #expect(fixture.prompter.events.count == count)
    }

    @Test
    @BusActor
    func touch_fiveTimesWrong_thePasscodeIsTaken_andUnlocksTheReader() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("userPresence")
        _ = try await fixture.question()
        try await fixture.failTouches(1...4)
        _ = try await fixture.match(5)
        let count = fixture.prompter.requests.count
        try await fixture.failTouches(5...5)
        let question = try await fixture.question(after: count)
        #expect(question == fixture.request(.passcode, reader: nil, warning: question.warning))
        #expect(question.warning.contains("locked"))
        try fixture.type("right")
        #expect(await evaluation.outcome().factors == .passcode)
        #expect(fixture.store.record?.biometricFailures == 0)
        #expect(fixture.reader.matches.count == 5)
    }

    @Test
    @BusActor
    func hints_areShown_andTheScanGoesOn() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryAny")
        let match = try await fixture.match()
        for (hint, warning) in [
            (BiometryHint.retry, BiometryHint.retry.text.english),
            (.swipeTooShort, BiometryHint.swipeTooShort.text.english),
        ] {
            let count = fixture.prompter.requests.count
            match.hint(hint)
            #expect(try await fixture.question(after: count).warning == warning)
        }
        let count = fixture.prompter.requests.count
        match.hint(.swipe)
        #expect(try await fixture.question(after: count).description == BiometryHint.swipe.text.english)
        match.end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
        #expect(fixture.reader.matches.count == 1)
    }

    @Test
    @BusActor
    func swipeReader_isSaidFromTheBeginning() async throws {
        let fixture = EvaluationFixture()
        fixture.reader.firstHint = .swipe
        let evaluation = try fixture.begin("userPresence")
        let question = fixture.request(.passcode, reader: .swipe)
        #expect(try await fixture.question() == question)
        let match = try await fixture.match()
        match.hint(.swipe)
        match.end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
        #expect(fixture.prompter.requests.all == [question])
        #expect(fixture.prompter.events.all == ["open :1.1", "ask Bank ", "close"])
    }

    @Test
    @BusActor
    func fallback_readerOnly_isUserFallback() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryAny")
        #expect(try await fixture.question().question == .waiting)
        let match = try await fixture.match()
        fixture.prompter.answerNow(.fallback)
        #expect(await evaluation.outcome().code == .userFallback)
        #expect(match.isCancelled)
    }

    @Test(
        arguments: [
            (AuthenticationError.Code.biometryDisconnected, AuthenticationError.Code.biometryDisconnected),
            (.biometryNotEnrolled, .biometryNotEnrolled), (.biometryNotAvailable, .biometryNotAvailable),
            // The reader itself works: another program uses it, or nobody touched it.
            (.systemCancel, .systemCancel), (.authenticationFailed, .authenticationFailed),
        ]
    )
    @BusActor
    func reader_unpluggedInTheMiddle_readerOnly_fails(
        failure: AuthenticationError.Code,
        expected: AuthenticationError.Code
    ) async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryAny")
        try await fixture.match().end(.failed(AuthenticationError(failure, reason: "gone")))
        #expect(await evaluation.outcome().code == expected)
        #expect(fixture.store.saved.all.isEmpty)
    }

    @Test
    @BusActor
    func reader_unpluggedInTheMiddle_thePasscodeRemains() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("userPresence")
        _ = try await fixture.question()
        let match = try await fixture.match()
        let count = fixture.prompter.requests.count
        match.end(.failed(AuthenticationError(.biometryDisconnected, reason: "gone")))
        let question = try await fixture.question(after: count)
        #expect(
            question
                == fixture.request(.passcode, reader: nil, warning: "The fingerprint reader is gone.")
        )
        try fixture.type("right")
        #expect(await evaluation.outcome().factors == .passcode)
    }

    @Test
    @BusActor
    func currentSet_sameFingers_satisfies() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryCurrentSet")
        try await fixture.match().end(.matched(finger: ""))
        #expect(await evaluation.outcome() == .satisfied(Proofs(factors: .biometryAny, matchedSet: FakeReader.set)))
    }

    @Test
    @BusActor
    func currentSet_otherFingersBefore_asksNobody() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryCurrentSet", boundTo: FakeReader.otherSet)
        #expect(await evaluation.outcome().code == .authenticationFailed)
        #expect(fixture.prompter.events.all.isEmpty)
    }

    @Test
    @BusActor
    func currentSet_changedDuringTheMatch_isRefused() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryCurrentSet")
        let match = try await fixture.match()
        fixture.reader.answer = .available(FakeReader.otherSet)
        match.end(.matched(finger: ""))
        #expect(await evaluation.outcome().code == .authenticationFailed)
    }

    @Test
    @BusActor
    func currentSet_unpluggedAfterTheMatch_isRefused() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryCurrentSet")
        let match = try await fixture.match()
        fixture.reader.answer = .disconnected
        match.end(.matched(finger: ""))
        #expect(await evaluation.outcome().code == .biometryDisconnected)
    }

    @Test
    @BusActor
    func bothFactors_touchFirst_thenThePasscode() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryAny and devicePasscode")
        _ = try await fixture.question()
        let match = try await fixture.match()
        let count = fixture.prompter.requests.count
        match.end(.matched(finger: ""))
        #expect(
            try await fixture.question(after: count)
                == fixture.request(.passcode, reader: nil, touch: .recognised)
        )
        try fixture.type("right")
        let expected = Proofs(factors: [.biometryAny, .passcode], keys: .passcode, matchedSet: FakeReader.set)
        #expect(await evaluation.outcome() == .satisfied(expected))
    }

    @Test
    @BusActor
    func bothFactors_passcodeFirst_thenTheTouch() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryAny and devicePasscode")
        let question = fixture.request(.passcode, reader: .touch, readerSuffices: false)
        #expect(try await fixture.question() == question)
        let match = try await fixture.match()
        #expect(try await fixture.typeAndWait("right") == fixture.request([], reader: .touch))
        #expect(!match.isCancelled)
        match.end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == [.biometryAny, .passcode])
        #expect(fixture.reader.matches.count == 1)
    }
}
