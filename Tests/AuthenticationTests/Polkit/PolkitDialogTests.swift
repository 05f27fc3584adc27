import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Testing

/// The dialog with a fake polkit.
@Suite(.onLoop)
struct PolkitDialogTests {
    @BusActor
    private final class Fixture {
        let polkit: FakePolkit
        let dialog: PolkitDialog
        let bus: PrivateBus
        let system: SystemBus

        init(_ bus: PrivateBus, _ answer: FakePolkit.Answer, _ limits: PolkitLimits) throws {
            self.bus = bus
            polkit = try FakePolkit(on: bus, answer)
            system = SystemBus(address: bus.address, timeout: Patience.limit, logger: .silent)
            dialog = PolkitDialog(bus: system, subjects: .fake, limits: limits, logger: .silent)
        }

        /// Keeps the fixture alive until the end of the test.
        func close() {
            system.close()
        }

        /// Starts an authentication and waits until polkit is asked with a dialog.
        func authenticate(_ answer: FakePolkit.Answer) async throws -> any SystemAuthentication {
            polkit.answerToDialog = answer
            let authentication = dialog.authenticate("Program asks for 'Bank'")
            _ = try await polkit.questions.first("the dialog") { $0.flags == 1 }
            return authentication
        }
    }

    @BusActor
    private func makeFixture(
        _ answer: FakePolkit.Answer = .challenge,
        _ limits: PolkitLimits = .patient
    ) async throws -> Fixture {
        try Fixture(await PrivateBus(), answer, limits)
    }

    // MARK: Availability

    @Test @BusActor
    func isAvailable_polkitWouldAsk_isTrueAndNobodyIsAsked() async throws {
        let fixture = try await makeFixture()
        defer { fixture.close() }
        #expect(await fixture.dialog.isAvailable())
        let question = try #require(fixture.polkit.questions.all.first)
        #expect(question.action == "org.keychaind.authenticate")
        #expect(question.flags == 0)
        #expect(question.subjectKind == "unix-process")
        #expect(question.details.isEmpty)
    }

    @Test(arguments: [FakePolkit.Answer.authorized, .refused, .dismissed, .garbage, .crash, .error("org.example.No")])
    @BusActor
    func isAvailable_polkitWouldNotAsk_isFalseAndNothingIsProved(answer: FakePolkit.Answer) async throws {
        let fixture = try await makeFixture(answer)
        defer { fixture.close() }
        // polkit never reports a dismissal without a dialog; it still means that a dialog would be shown.
        let expected = answer == .dismissed
        #expect(await fixture.dialog.isAvailable() == expected)
        let error = await fixture.dialog.authenticate("").outcome()
        #expect(error?.code == (expected ? .userCancel : .notInteractive))
    }

    @Test @BusActor
    func isAvailable_polkitHangs_isFalse() async throws {
        var limits = PolkitLimits.patient
        limits.check = .milliseconds(50)
        let fixture = try await makeFixture(.hang, limits)
        defer { fixture.close() }
        #expect(await !fixture.dialog.isAvailable())
        #expect(await fixture.dialog.authenticate("").outcome()?.code == .notInteractive)
    }

    @Test @BusActor
    func isAvailable_noPolkit_isFalse() async throws {
        let bus = try await PrivateBus()
        let system = SystemBus(address: bus.address, timeout: Patience.limit, logger: .silent)
        defer { system.close() }
        let dialog = PolkitDialog(bus: system, subjects: .fake, limits: .patient, logger: .silent)
        #expect(await !dialog.isAvailable())
        #expect(await dialog.authenticate("").outcome()?.code == .notInteractive)
    }

    @Test @BusActor
    func isAvailable_noSystemBus_isFalse() async throws {
        let system = SystemBus(address: "unix:path=/nonexistent/bus", timeout: Patience.limit, logger: .silent)
        defer { system.close() }
        #expect(await !PolkitDialog(bus: system, subjects: .fake, limits: .patient, logger: .silent).isAvailable())
    }

    // MARK: Answers

    @Test(
        arguments: [
            (FakePolkit.Answer.authorized, nil), (.refused, .authenticationFailed), (.dismissed, .userCancel),
            (.challenge, .notInteractive), (.garbage, .systemCancel), (.crash, .systemCancel),
            (.error("org.example.No"), .systemCancel),
        ] as [(FakePolkit.Answer, AuthenticationError.Code?)]
    )
    @BusActor
    func authenticate_answer_isAppleError(answer: FakePolkit.Answer, code: AuthenticationError.Code?) async throws {
        let fixture = try await makeFixture()
        defer { fixture.close() }
        let authentication = try await fixture.authenticate(answer)
        let error = await authentication.outcome()
        #expect(error?.code == code)
        #expect(await authentication.outcome() == error)
    }

    @Test @BusActor
    func authenticate_message_isCleanedAndTold() async throws {
        let fixture = try await makeFixture()
        defer { fixture.close() }
        fixture.polkit.answerToDialog = .authorized
        #expect(await fixture.dialog.authenticate("Program\u{202E} asks").outcome() == nil)
        let question = try #require(fixture.polkit.questions.all.last)
        #expect(question.details == ["polkit.message": "Program  asks"])
        #expect(!question.cancellationID.isEmpty)
    }

    @Test @BusActor
    func authenticate_detailsNotTaken_isAskedWithoutThem() async throws {
        let fixture = try await makeFixture()
        defer { fixture.close() }
        fixture.polkit.takesDetails = false
        fixture.polkit.answerToDialog = .authorized
        #expect(await fixture.dialog.authenticate("Program asks").outcome() == nil)
        let asked = fixture.polkit.questions.all.filter { $0.flags == 1 }
        #expect(asked.map(\.details) == [["polkit.message": "Program asks"], [:]])
        #expect(Set(asked.map(\.cancellationID)).count == 2)
    }

    // MARK: Ending

    @Test @BusActor
    func cancel_whileAsking_takesTheDialogAway() async throws {
        let fixture = try await makeFixture()
        defer { fixture.close() }
        let authentication = try await fixture.authenticate(.hang)
        authentication.cancel()
        authentication.cancel()
        #expect(await authentication.outcome()?.code == .systemCancel)
        let id = try #require(fixture.polkit.questions.all.last).cancellationID
        _ = try await fixture.polkit.cancellations.first("the cancellation") { $0 == id }
    }

    @Test @BusActor
    func cancel_whileAsking_isGoneOncePolkitSaysSo() async throws {
        let fixture = try await makeFixture()
        defer { fixture.close() }
        fixture.polkit.ignoreCancellations()
        let authentication = try await fixture.authenticate(.hang)
        let gone = Recorder<Void>()
        BusActor.start {
            await authentication.waitUntilGone()
            gone.record(())
        }
        authentication.cancel()
        #expect(await authentication.outcome()?.code == .systemCancel)
        _ = try await fixture.polkit.cancellations.first("the cancellation")
        #expect(gone.count == 0)
        // The authentication is over: a late approval changes nothing.
        fixture.polkit.answerHanging(with: .authorized)
        _ = try await gone.first("the end of the dialog")
        #expect(await authentication.outcome()?.code == .systemCancel)
    }

    @Test @BusActor
    func cancel_atOnce_asksNobody() async throws {
        let fixture = try await makeFixture()
        defer { fixture.close() }
        fixture.polkit.answerToDialog = .authorized
        let authentication = fixture.dialog.authenticate("Program asks")
        authentication.cancel()
        #expect(await authentication.outcome()?.code == .systemCancel)
        // The second takes the same steps; by its end the first would have asked.
        #expect(await fixture.dialog.authenticate("another").outcome() == nil)
        let messages = fixture.polkit.questions.all.compactMap { $0.details["polkit.message"] }
        #expect(messages == ["another"])
    }

    @Test @BusActor
    func cancel_afterTheOutcome_changesNothing() async throws {
        let fixture = try await makeFixture()
        defer { fixture.close() }
        let authentication = try await fixture.authenticate(.authorized)
        #expect(await authentication.outcome() == nil)
        authentication.cancel()
        #expect(await authentication.outcome() == nil)
    }

    @Test @BusActor
    func authenticate_nobodyAnswers_endsAndTakesTheDialogAway() async throws {
        var limits = PolkitLimits.patient
        limits.answer = .milliseconds(50)
        let fixture = try await makeFixture(.challenge, limits)
        defer { fixture.close() }
        let authentication = try await fixture.authenticate(.hang)
        #expect(await authentication.outcome()?.code == .systemCancel)
        _ = try await fixture.polkit.cancellations.first("the cancellation")
    }

    @Test @BusActor
    func authenticate_busDies_ends() async throws {
        let fixture = try await makeFixture()
        defer { fixture.close() }
        let authentication = try await fixture.authenticate(.hang)
        try await fixture.bus.kill()
        #expect(await authentication.outcome()?.code == .systemCancel)
    }
}

extension PolkitLimits {
    /// Limits longer than a successful test.
    static var patient: PolkitLimits {
        var limits = PolkitLimits()
        limits.check = .seconds(300)
        limits.answer = .seconds(300)
        return limits
    }
}
