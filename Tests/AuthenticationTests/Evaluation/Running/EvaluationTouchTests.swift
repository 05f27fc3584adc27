import Authentication
import DBus
import KeychainModel
import TestSupport
import Testing

@Suite(.onLoop)
struct EvaluationTouchTests {
    @Test
    @BusActor
    func touch_matches_satisfies() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("userPresence")
        let question = try await fixture.dialog.question()
        #expect(question == EvaluationQuestion(passwords: .passcode, reader: .touch))
        try await fixture.match().end(.matched(finger: "right-index-finger"))
        let outcome = await evaluation.outcome()
        #expect(outcome == .satisfied(Proofs(factors: .biometryAny, matchedSet: FakeReader.set)))
        #expect(fixture.dialog.events.all.last == .withdrawn)
        #expect(fixture.passcode.trials.all.isEmpty)
        #expect(fixture.timers.delays.isEmpty)
    }

    @Test
    @BusActor
    func touch_beforeTheDialogIsThere_isNotWaitedFor() async throws {
        let fixture = EvaluationFixture()
        fixture.dialog.showsAtOnce = false
        let evaluation = try fixture.begin("biometryAny")
        _ = try await fixture.dialog.question()
        #expect(fixture.reader.matches.all.isEmpty)
        fixture.dialog.show()
        fixture.dialog.show()
        try await fixture.match().end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
        #expect(fixture.reader.matches.count == 1)
    }

    @Test
    @BusActor
    func touch_doesNotMatch_mayBeRepeated() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryAny")
        _ = try await fixture.dialog.question()
        let count = fixture.dialog.events.count
        try await fixture.match(1).end(.notMatched)
        #expect(try await fixture.dialog.question(after: count).warning.contains("not recognised"))
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
        // The next one is not asked at all.
        let count = fixture.dialog.events.count
        #expect(try await fixture.begin("biometryAny").outcome().code == .biometryLockout)
        #expect(fixture.dialog.events.count == count)
    }

    @Test
    @BusActor
    func touch_fiveTimesWrong_thePasscodeIsTaken_andUnlocksTheReader() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("userPresence")
        _ = try await fixture.dialog.question()
        try await fixture.failTouches(1...4)
        _ = try await fixture.match(5)
        let count = fixture.dialog.events.count
        try await fixture.failTouches(5...5)
        let question = try await fixture.dialog.question(after: count)
        #expect(question.reader == nil)
        #expect(question.passwords == .passcode)
        #expect(question.warning.contains("locked"))
        fixture.dialog.answer(.text("right"))
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
            (BiometryHint.retry, BiometryHint.retry.text), (.swipeTooShort, BiometryHint.swipeTooShort.text),
        ] {
            let count = fixture.dialog.events.count
            match.hint(hint)
            #expect(try await fixture.dialog.question(after: count).warning == warning)
        }
        let count = fixture.dialog.events.count
        match.hint(.swipe)
        #expect(try await fixture.dialog.question(after: count).reader == .swipe)
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
        #expect(try await fixture.dialog.question().reader == .swipe)
        let match = try await fixture.match()
        match.hint(.swipe)
        match.end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
        let question = EvaluationQuestion(passwords: .passcode, reader: .swipe)
        #expect(fixture.dialog.events.all == [.begun, .asked(question), .withdrawn])
    }

    @Test
    @BusActor
    func fallback_readerOnly_isUserFallback() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryAny")
        #expect(try await fixture.dialog.question().passwords.isEmpty)
        let match = try await fixture.match()
        fixture.dialog.answer(.fallback)
        #expect(await evaluation.outcome().code == .userFallback)
        #expect(match.isCancelled)
    }

    @Test(
        arguments: [
            (AuthenticationError.Code.biometryDisconnected, AuthenticationError.Code.biometryDisconnected),
            (.biometryNotEnrolled, .biometryNotEnrolled), (.biometryNotAvailable, .biometryNotAvailable),
            // Another program keeps it, or nobody has touched it: that says nothing about the reader.
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
        _ = try await fixture.dialog.question()
        let match = try await fixture.match()
        let count = fixture.dialog.events.count
        match.end(.failed(AuthenticationError(.biometryDisconnected, reason: "gone")))
        let question = try await fixture.dialog.question(after: count)
        #expect(
            question
                == EvaluationQuestion(passwords: .passcode, reader: nil, warning: "The fingerprint reader is gone.")
        )
        fixture.dialog.answer(.text("right"))
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
        #expect(fixture.dialog.events.all.isEmpty)
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
        _ = try await fixture.dialog.question()
        let match = try await fixture.match()
        let count = fixture.dialog.events.count
        match.end(.matched(finger: ""))
        #expect(
            try await fixture.dialog.question(after: count) == EvaluationQuestion(passwords: .passcode, reader: nil)
        )
        fixture.dialog.answer(.text("right"))
        let expected = Proofs(factors: [.biometryAny, .passcode], keys: .passcode, matchedSet: FakeReader.set)
        #expect(await evaluation.outcome() == .satisfied(expected))
    }

    @Test
    @BusActor
    func bothFactors_passcodeFirst_thenTheTouch() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryAny and devicePasscode")
        let question = EvaluationQuestion(passwords: .passcode, reader: .touch, readerSuffices: false)
        #expect(try await fixture.dialog.question() == question)
        let match = try await fixture.match()
        #expect(try await fixture.typeAndWait("right") == EvaluationQuestion(passwords: [], reader: .touch))
        #expect(!match.isCancelled)
        match.end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == [.biometryAny, .passcode])
        #expect(fixture.reader.matches.count == 1)
    }
}
