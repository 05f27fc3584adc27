import Authentication
import DBus
import TestSupport
import Testing

/// The real polkitd with the installed action file, and an agent in front of which the test sits.
@Suite(
    .onLoop,
    .enabled("polkitd needs root and mount namespaces; PolkitDialogTests has a stand-in for it") {
        try await RealPolkit.canRun()
    }
)
struct RealPolkitTests {
    @BusActor
    private func withDialog(
        _ person: PolkitAgent.Person?,
        _ body: @BusActor (PolkitDialog, PolkitAgent?) async throws -> Void
    ) async throws {
        let polkit = try await RealPolkit()
        let system = SystemBus(address: polkit.bus.address, logger: .silent)
        defer { system.close() }
        let subject = PolkitSubject.process(
            id: UInt32(polkit.process.id),
            startTime: polkit.startTime,
            user: RealPolkit.user
        )
        let dialog = PolkitDialog(bus: system, subject: subject, limits: .patient, logger: .silent)
        var agent: PolkitAgent?
        if let person {
            agent = try await PolkitAgent(on: polkit, for: person)
        }
        try await body(dialog, agent)
        agent?.close()
    }

    @Test(
        arguments: [
            (PolkitAgent.Person.authenticates, nil), (.cannot, .authenticationFailed), (.dismisses, .userCancel),
        ] as [(PolkitAgent.Person, AuthenticationError.Code?)]
    )
    @BusActor
    func authenticate_person_isAppleError(person: PolkitAgent.Person, code: AuthenticationError.Code?) async throws {
        try await withDialog(person) { dialog, agent in
            #expect(await dialog.isAvailable())
            let error = await dialog.authenticate("Program asks for 'Bank'").outcome()
            #expect(error?.code == code)
            // Root may say what the dialog is to show.
            #expect(agent?.messages.all == ["Program asks for 'Bank'"])
        }
    }

    @Test @BusActor
    func authenticate_twice_asksTwice() async throws {
        try await withDialog(.authenticates) { dialog, agent in
            for _ in 0..<2 {
                let error = await dialog.authenticate("again").outcome()
                #expect(error == nil)
            }
            #expect(agent?.messages.count == 2)
        }
    }

    @Test @BusActor
    func authenticate_noAgent_isNotInteractive() async throws {
        try await withDialog(nil) { dialog, _ in
            #expect(await dialog.isAvailable())
            let error = await dialog.authenticate("").outcome()
            #expect(error?.code == .notInteractive)
        }
    }

    @Test @BusActor
    func cancel_whileTheDialogIsShown_takesItAway() async throws {
        try await withDialog(.isAway) { dialog, agent in
            let authentication = dialog.authenticate("")
            _ = try await agent?.messages.first("the dialog")
            authentication.cancel()
            #expect(await authentication.outcome()?.code == .systemCancel)
            _ = try await agent?.cancellations.first("the end of the dialog")
        }
    }

    @Test @BusActor
    func authenticate_agentGoes_ends() async throws {
        try await withDialog(.isAway) { dialog, agent in
            let authentication = dialog.authenticate("")
            _ = try await agent?.messages.first("the dialog")
            agent?.close()
            let error = await authentication.outcome()
            #expect(error?.code == .authenticationFailed || error?.code == .userCancel)
        }
    }

    @Test @BusActor
    func isAvailable_root_isNotAsked() async throws {
        let polkit = try await RealPolkit()
        let system = SystemBus(address: polkit.bus.address, logger: .silent)
        defer { system.close() }
        let dialog = PolkitDialog(bus: system, limits: .patient, logger: .silent)
        #expect(await !dialog.isAvailable())
        let error = await dialog.authenticate("").outcome()
        #expect(error?.code == .notInteractive)
    }
}
