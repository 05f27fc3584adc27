import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindTestSupport
import Testing

/// With events in any order, every evaluation ends once, satisfied only by its own proofs.
@Suite(.onLoop)
struct EvaluationStormTests {
    private static let accessControls = [
        "userPresence", "biometryAny", "biometryCurrentSet", "devicePasscode", "applicationPassword",
        "biometryAny and devicePasscode", "devicePasscode and applicationPassword",
        "biometryCurrentSet or devicePasscode and applicationPassword",
    ]

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    @BusActor
    func events_atRandom_endInWhatWasShown(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            let accessControl = Self.accessControls.randomElement(using: &generator)!
            let fixture = EvaluationFixture()
            fixture.prompter.showsAtOnce = Bool.random(using: &generator)
            let other = Bool.random(using: &generator) ? nil : try await fixture.giveTurnToAnother()
            fixture.passcode.isHeld = Int.random(in: 0..<3, using: &generator) == 0
            let evaluation = try fixture.begin(accessControl)
            let ended = Recorder<EvaluationOutcome>()
            BusActor.start { ended.record(await evaluation.outcome()) }
            var shown: FactorSet = []
            for _ in 0..<60 where ended.all.isEmpty {
                try happen(Int.random(in: 0..<16, using: &generator), to: fixture, other, &shown)
                if Bool.random(using: &generator) { await BusActor.loop.wait(for: .zero) }
            }
            other?.end()
            fixture.conversation.end()
            fixture.passcode.finish()
            let outcome = try await ended.first("the end of \(accessControl), seed \(seed)")
            if let factors = outcome.factors {
                let policy = try #require(try AccessControl(parsing: accessControl).policy)
                #expect(factors.isSubset(of: shown))
                #expect(policy.isSatisfied(by: shown))
            }
            #expect(fixture.reader.matches.all.allSatisfy { $0.hasEnded })
            #expect(fixture.timers.delays.isEmpty)
        }
    }

    @BusActor
    private func happen(
        _ number: Int,
        to fixture: EvaluationFixture,
        _ other: Conversation?,
        _ shown: inout FactorSet
    ) throws {
        let match = fixture.reader.matches.all.last
        switch number {
        case 0:
            if match?.hasEnded == false { shown.formUnion(.biometry) }
            match?.end(.matched(finger: ""))
        case 1, 2: match?.end(.notMatched)
        case 3: match?.end(.failed(AuthenticationError(.biometryDisconnected, reason: "")))
        case 4: match?.hint(BiometryHint.allCases[number % BiometryHint.allCases.count])
        case 5:
            shown.insert(.passcode)
            try fixture.type("right")
        case 6:
            shown.insert(.applicationPassword)
            try fixture.type("own")
        case 7, 8: try fixture.type("wrong")
        case 9: fixture.passcode.finish()
        case 10: fixture.prompter.show()
        case 11: other?.end()
        case 12: fixture.time.now += .seconds(5)
        case 13: fixture.reader.answer = .available(FakeReader.set)
        case 14 where evaluationMayEnd(fixture): fixture.prompter.answerNow(.cancelled)
        case 15 where evaluationMayEnd(fixture): fixture.timers.fire()
        default: break
        }
    }

    /// Answers late, so that many events come first.
    @BusActor
    private func evaluationMayEnd(_ fixture: EvaluationFixture) -> Bool {
        fixture.prompter.events.count > 8
    }
}
