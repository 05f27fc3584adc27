import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct EvaluationPasswordTests {
    @Test
    @BusActor
    func passcode_right_satisfies_withoutTheReader() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("devicePasscode")
        #expect(try await fixture.question() == fixture.request(.passcode, reader: nil))
        try fixture.type("right")
        #expect(await evaluation.outcome() == .satisfied(Proofs(factors: .passcode, keys: .passcode)))
        #expect(fixture.reader.matches.all.isEmpty)
    }

    @Test
    @BusActor
    func passcode_wrong_isAskedAgain() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("devicePasscode")
        _ = try await fixture.question()
        #expect(try await fixture.typeAndWait("wrong").warning == "That password was not right.")
        try fixture.type("right")
        #expect(await evaluation.outcome().factors == .passcode)
        // Each counts as wrong before it is tried.
        #expect(fixture.store.saved.all.map(\.passcodeFailures) == [1, 2, 0])
    }

    @Test
    @BusActor
    func passcode_isCountedOnDisk_beforeItIsTried() async throws {
        let fixture = EvaluationFixture()
        fixture.passcode.isHeld = true
        let evaluation = try fixture.begin("devicePasscode")
        _ = try await fixture.question()
        try fixture.type("right")
        _ = try await fixture.passcode.trials.first("a trial")
        #expect(fixture.store.record?.passcodeFailures == 1)
        fixture.passcode.finish()
        #expect(await evaluation.outcome().factors == .passcode)
        #expect(fixture.store.record?.passcodeFailures == 0)
    }

    @Test
    @BusActor
    func passcode_fiveTimesWrong_fails() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("devicePasscode")
        _ = try await fixture.question()
        for _ in 1...4 {
            fixture.time.now += .seconds(600)
            try await fixture.typeAndWait("wrong")
        }
        fixture.time.now += .seconds(600)
        try fixture.type("wrong")
        #expect(await evaluation.outcome().code == .authenticationFailed)
        #expect(fixture.passcode.trials.count == 5)
    }

    @Test
    @BusActor
    func passcode_tooEarly_isNotTried_evenIfRight() async throws {
        let fixture = EvaluationFixture()
        fixture.store.record = LockoutRecord(
            passcodeFailures: 7,
            lastPasscodeFailure: 1_000_000_000_000,
            bootID: "boot"
        )
        let evaluation = try fixture.begin("devicePasscode")
        _ = try await fixture.question()
        #expect(try await fixture.typeAndWait("right").warning.contains("Wait 60 seconds before the next"))
        fixture.time.now += .seconds(59)
        #expect(try await fixture.typeAndWait("right").warning.contains("Wait one second"))
        #expect(fixture.passcode.trials.all.isEmpty)
        fixture.time.now += .seconds(1)
        try fixture.type("right")
        #expect(await evaluation.outcome().factors == .passcode)
    }

    @Test
    @BusActor
    func passcode_fourthWrong_saysHowLongToWait() async throws {
        let fixture = EvaluationFixture()
        fixture.store.record = LockoutRecord(passcodeFailures: 7, lastPasscodeFailure: 0, bootID: "boot")
        let evaluation = try fixture.begin("devicePasscode")
        _ = try await fixture.question()
        #expect(
            try await fixture.typeAndWait("wrong").warning
                == "That password was not right. Wait 5 minutes before the next."
        )
        fixture.prompter.answerNow(.cancelled)
        #expect(await evaluation.outcome().code == .userCancel)
    }

    @Test
    @BusActor
    func passcode_cannotBeTried_doesNotCount() async throws {
        let fixture = EvaluationFixture()
        fixture.passcode.result = .failed(reason: "no memory")
        let evaluation = try fixture.begin("devicePasscode")
        _ = try await fixture.question()
        try fixture.type("right")
        #expect(await evaluation.outcome().code == .systemCancel)
        #expect(fixture.store.record?.passcodeFailures == 0)
    }

    @Test
    @BusActor
    func passcode_vanishesMeanwhile_isPasscodeNotSet() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("devicePasscode")
        _ = try await fixture.question()
        fixture.passcode.isSet = false
        try fixture.type("wrong")
        #expect(await evaluation.outcome().code == .passcodeNotSet)
    }

    @Test
    @BusActor
    func applicationPassword_right_satisfies_andIsNoPasscode() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("applicationPassword")
        #expect(try await fixture.question() == fixture.request(.applicationPassword, reader: nil))
        #expect(try await fixture.typeAndWait("right").warning == "That password was not right.")
        try fixture.type("own")
        let expected = Proofs(factors: .applicationPassword, keys: .applicationPassword)
        #expect(await evaluation.outcome() == .satisfied(expected))
        #expect(fixture.passcode.trials.all.isEmpty)
        #expect(fixture.store.saved.all.isEmpty)
    }

    @Test
    @BusActor
    func passcodeAndApplicationPassword_areAskedInThatOrder() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("applicationPassword and devicePasscode")
        #expect(try await fixture.question() == fixture.request(.passcode, reader: nil))
        #expect(try await fixture.typeAndWait("right") == fixture.request(.applicationPassword, reader: nil))
        try fixture.type("own")
        #expect(await evaluation.outcome().factors == [.passcode, .applicationPassword])
    }

    @Test(arguments: [("right", FactorSet.passcode), ("own", .applicationPassword)])
    @BusActor
    func passcodeOrApplicationPassword_eitherIsTaken(text: String, factor: FactorSet) async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("applicationPassword or devicePasscode")
        let question = fixture.request([.passcode, .applicationPassword], reader: nil)
        #expect(try await fixture.question() == question)
        #expect(try await fixture.typeAndWait("wrong").warning == "That password was not right.")
        try fixture.type(text)
        #expect(await evaluation.outcome().factors == factor)
        #expect(fixture.passcode.trials.all == (text == "right" ? ["wrong", "right"] : ["wrong"]))
    }

    @Test
    @BusActor
    func proved_before_isNotAskedAgain() async throws {
        let fixture = EvaluationFixture()
        let evaluation = try fixture.begin("biometryAny and devicePasscode", proved: .passcode)
        #expect(try await fixture.question() == fixture.request([], reader: .touch))
        try await fixture.match().end(.matched(finger: ""))
        #expect(await evaluation.outcome().factors == .biometryAny)
    }
}
