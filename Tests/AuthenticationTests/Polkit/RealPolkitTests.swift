import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Testing

/// The real polkitd with the installed action file and a scripted agent.
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
        let system = SystemBus(address: polkit.bus.address, timeout: Patience.limit, logger: .silent)
        defer { system.close() }
        let dialog = PolkitDialog(
            bus: system,
            subjects: FixedSubject(polkit.subject),
            limits: .patient,
            logger: .silent
        )
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
            // Root may set the text of the dialog.
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
        let system = SystemBus(address: polkit.bus.address, timeout: Patience.limit, logger: .silent)
        defer { system.close() }
        let root = PolkitSubject.process(id: 1, startTime: try RealPolkit.startTime(of: 1), user: 0)
        let dialog = PolkitDialog(bus: system, subjects: FixedSubject(root), limits: .patient, logger: .silent)
        #expect(await !dialog.isAvailable())
        let error = await dialog.authenticate("").outcome()
        #expect(error?.code == .notInteractive)
    }

    /// An agent that the user registers for a process of the user is asked only if that process is the subject.
    ///
    /// Here a process of `nobody` stands for keychaind, a process of root for the session leader, and an agent
    /// registered by root for the session's agent.
    @Test @BusActor
    func authenticate_agentForTheUsersOwnProcess_isNotAsked() async throws {
        let polkit = try await RealPolkit()
        let system = SystemBus(address: polkit.bus.address, timeout: Patience.limit, logger: .silent)
        defer { system.close() }
        let leader = try ChildProcess("sleep", ["1000"])
        let leads = PolkitSubject.process(
            id: UInt32(leader.id),
            startTime: try RealPolkit.startTime(of: leader.id),
            user: RealPolkit.user
        )
        let evil = try await PolkitAgent(on: polkit, for: .authenticates)
        defer { evil.close() }
        let shadowed = PolkitDialog(
            bus: system,
            subjects: FixedSubject(polkit.subject),
            limits: .patient,
            logger: .silent
        )
        #expect(await shadowed.authenticate("").outcome() == nil)
        #expect(evil.messages.count == 1)

        let dialog = PolkitDialog(bus: system, subjects: FixedSubject(leads), limits: .patient, logger: .silent)
        #expect(await dialog.authenticate("").outcome()?.code == .notInteractive)
        #expect(evil.messages.count == 1)

        let session = try await PolkitAgent(
            on: polkit,
            for: .authenticates,
            of: (leader.id, RealPolkit.startTime(of: leader.id))
        )
        defer { session.close() }
        #expect(await dialog.authenticate("").outcome() == nil)
        #expect([evil.messages.count, session.messages.count] == [1, 1])
    }

    /// polkit rejects an agent that the user registers for a process of root.
    @Test @BusActor
    func registerAgent_forTheLeaderByTheUser_isRefused() async throws {
        let polkit = try await RealPolkit()
        let leader = try ChildProcess("sleep", ["1000"])
        let startTime = try RealPolkit.startTime(of: leader.id)
        func register(_ id: Int32, _ startTime: UInt64) async throws -> CommandResult {
            let subject = """
                ('unix-process', {'pid': <uint32 \(id)>, 'start-time': <uint64 \(startTime)>, \
                'uid': <int32 \(RealPolkit.user)>})
                """
            return try await Command.run(
                "setpriv",
                [
                    "--reuid", "\(RealPolkit.user)", "--regid", "\(RealPolkit.user)", "--clear-groups", "gdbus", "call",
                    "--address", polkit.bus.address, "--dest", "org.freedesktop.PolicyKit1", "--object-path",
                    "/org/freedesktop/PolicyKit1/Authority", "--method",
                    "org.freedesktop.PolicyKit1.Authority.RegisterAuthenticationAgent", subject, "C",
                    "/org/example/Agent",
                ]
            )
        }
        let refused = try await register(leader.id, startTime)
        #expect(!refused.succeeded)
        #expect(refused.errors.contains("User of caller and user of subject differs"))
        #expect(try await register(polkit.process.id, polkit.startTime).succeeded)
    }
}
