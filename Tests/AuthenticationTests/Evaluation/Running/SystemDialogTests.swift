import Authentication
import DBus
import KeychainModel
import TestSupport
import Testing

@Suite(.onLoop)
struct SystemDialogTests {
    @Test
    @BusActor
    func presence_isAskedBySystem_withOurMessage() async throws {
        let system = FakeSystemDialog()
        let fixture = EvaluationFixture(systemDialog: system)
        // It is the system that shows it, so no prompter is needed.
        fixture.dialog.isThere = false
        let evaluation = try fixture.begin("userPresence")
        let showing = try await system.showings.first("the dialog")
        #expect(showing.message == "the message")
        showing.end(nil)
        // No key comes of it.
        #expect(await evaluation.outcome() == .satisfied(Proofs(factors: .passcode)))
        #expect(Array(fixture.dialog.events.all.prefix(2)) == [.begun, .held])
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
        fixture.dialog.end(AuthenticationError(.appCancel, reason: "gone"))
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
        fixture.dialog.end(AuthenticationError(.appCancel, reason: "dismissed"))
        #expect(await evaluation.outcome().code == .appCancel)
        #expect(showing.isCancelled && fixture.dialog.events.all.last == .held)
        // Somebody says yes in it nonetheless.
        showing.end(nil)
        #expect(await evaluation.outcome().code == .appCancel)
        showing.vanish()
        _ = try await fixture.dialog.events.first("the end of the turn") { $0 == .released }
    }

    @Test(arguments: ["devicePasscode", "userPresence and applicationPassword"])
    @BusActor
    func otherPolicies_areAskedByUs(accessControl: String) async throws {
        let system = FakeSystemDialog()
        let fixture = EvaluationFixture(systemDialog: system)
        let evaluation = try fixture.begin(accessControl)
        _ = try await fixture.dialog.question()
        fixture.dialog.answer(.cancelled)
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
        _ = try await fixture.dialog.question()
        fixture.dialog.answer(.cancelled)
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
        #expect(try await fixture.dialog.question().reader == nil)
        fixture.dialog.answer(.cancelled)
        #expect(await evaluation.outcome().code == .userCancel)
        #expect(system.showings.all.isEmpty)
    }
}
