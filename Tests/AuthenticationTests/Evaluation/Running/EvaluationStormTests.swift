import Authentication
import DBus
import KeychainModel
import TestSupport
import Testing

/// Whatever happens, in whatever order: every evaluation ends once, and is satisfied by what was shown only.
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
            fixture.dialog.showsAtOnce = Bool.random(using: &generator)
            fixture.dialog.hasTurn = Bool.random(using: &generator)
            fixture.passcode.isHeld = Int.random(in: 0..<3, using: &generator) == 0
            let evaluation = try fixture.begin(accessControl)
            let ended = Recorder<EvaluationOutcome>()
            BusActor.start { ended.record(await evaluation.outcome()) }
            var shown: FactorSet = []
            for _ in 0..<60 where ended.all.isEmpty {
                happen(Int.random(in: 0..<16, using: &generator), to: fixture, evaluation, &shown)
                if Bool.random(using: &generator) { await BusActor.loop.wait(for: .zero) }
            }
            fixture.dialog.giveTurn()
            fixture.dialog.end(AuthenticationError(.appCancel, reason: "enough"))
            fixture.passcode.finish()
            let outcome = try await ended.first("the end of \(accessControl), seed \(seed)")
            if let factors = outcome.factors {
                let policy = try AccessControl(parsing: accessControl).policy
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
        _ evaluation: Evaluation,
        _ shown: inout FactorSet
    ) {
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
            fixture.dialog.answer(.text("right"))
        case 6:
            shown.insert(.applicationPassword)
            fixture.dialog.answer(.text("own"))
        case 7, 8: fixture.dialog.answer(.text("wrong"))
        case 9: fixture.passcode.finish()
        case 10: fixture.dialog.show()
        case 11: fixture.dialog.giveTurn()
        case 12: fixture.time.now += .seconds(5)
        case 13: fixture.reader.answer = .available(FakeReader.set)
        case 14 where evaluationMayEnd(fixture): fixture.dialog.answer(.cancelled)
        case 15 where evaluationMayEnd(fixture): fixture.timers.fire()
        default: break
        }
    }

    /// Ends come late, so that much happens before them.
    @BusActor
    private func evaluationMayEnd(_ fixture: EvaluationFixture) -> Bool {
        fixture.dialog.events.count > 8
    }
}
