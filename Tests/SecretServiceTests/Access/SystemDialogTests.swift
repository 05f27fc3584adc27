import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The daemon with `--polkit`: polkit's dialog instead of a prompter, which is missing here.
///
/// A fake logind names a process of another user as session leader, which stands for a login program.
struct SystemDialogTests {
    private func withPolkit(
        _ arguments: [String] = ["--polkit"],
        _ body: (RunningService, FakePolkit) async throws -> Void
    ) async throws {
        let system = try await PrivateBus()
        let logind = try await FakeLogind(on: system)
        let leader = try await ForeignProcess()
        try await logind.setLeader(leader.id)
        try await logind.setDisplay("c1")
        let polkit = try await FakePolkit(on: system, .challenge)
        var options = KeychainDaemon.Options()
        options.arguments = arguments + ["--prompters", "none"]
        options.environment["DBUS_SYSTEM_BUS_ADDRESS"] = system.address
        try await RunningService.withService(options) { try await body($0, polkit) }
        await polkit.crash()
        leader.end()
    }

    @Test("polkit's approval unlocks a userPresence item")
    func owner_releasesWhatNeedsPresence() async throws {
        try await withPolkit { service, polkit in
            await polkit.answerDialogs(with: .authorized)
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createProtectedItem("Bank", [:], "userPresence", session: session)
            let outcome = try await service.unlock([item], as: service.client)
            #expect(outcome.paths == [item.rawValue])
            let text = try await service.client.secretText(of: item, session: session)
            #expect(text == "secret")
            #expect(polkit.questions.all.map(\.flags).contains(1))
        }
    }

    @Test(
        "without polkit's approval nothing is unlocked",
        arguments: [FakePolkit.Answer.refused, .dismissed, .challenge, .garbage, .crash]
    )
    func nobody_releasesNothing(answer: FakePolkit.Answer) async throws {
        try await withPolkit { service, polkit in
            await polkit.answerDialogs(with: answer)
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createProtectedItem("Bank", [:], "userPresence", session: session)
            let outcome = try await service.unlock([item], as: service.client)
            #expect(outcome.isDismissed)
            #expect(try await service.client.isItemLocked(item))
        }
    }

    @Test("a dismissal completes at once, and a late approval has no effect")
    func dismissed_isToldAtOnce_andALateYesCountsForNothing() async throws {
        try await withPolkit { service, polkit in
            await polkit.answerDialogs(with: .hang)
            await polkit.ignoreCancellations()
            let client = service.client
            let item = try await client.createProtectedItem(
                "Bank",
                [:],
                "userPresence",
                session: client.openPlainSession()
            )
            let context = try await ContextClient(client)
            let prompt = try await context.unlock([item]).prompt
            try await client.show(prompt)
            let question = try await polkit.questions.first("polkit's dialog") { $0.flags == 1 }
            try await client.dismiss(prompt)
            #expect(try await client.completion(of: prompt).isDismissed)
            _ = try await polkit.cancellations.first("the cancellation") { $0 == question.cancellationID }
            // Another program waits until polkit has closed its dialog.
            let other = try await service.makeClient()
            let second = try await other.unlock([item]).prompt
            let count = polkit.questions.count
            try await other.show(second)
            try await other.roundTrip()
            #expect(!polkit.questions.all.dropFirst(count).contains { $0.flags == 1 })
            await polkit.answerHanging(with: .authorized)
            _ = try await polkit.questions.first("the other's dialog", after: count) { $0.flags == 1 }
            #expect(try await client.isItemLocked(item))
            #expect(try await context.unlock([item]).unlocked.isEmpty)
        }
    }

    @Test(
        "polkit is not asked for policies that need the passcode or a finger",
        arguments: ["devicePasscode", "biometryAny"]
    )
    func policyThatNeedsMore_isNotPolkits(accessControl: String) async throws {
        try await withPolkit { service, polkit in
            await polkit.answerDialogs(with: .authorized)
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createProtectedItem("Bank", [:], accessControl, session: session)
            let outcome = try await service.unlock([item], as: service.client)
            #expect(outcome.isDismissed)
            #expect(!polkit.questions.all.map(\.flags).contains(1))
        }
    }

    @Test("an approval without a dialog unlocks nothing")
    func polkitGrantsWithoutAsking_releasesNothing() async throws {
        try await withPolkit { service, polkit in
            await polkit.answerEverything(with: .authorized)
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createProtectedItem("Bank", [:], "userPresence", session: session)
            let outcome = try await service.unlock([item], as: service.client)
            #expect(outcome.isDismissed)
        }
    }

    @Test("without the option, polkit is not asked")
    func withoutTheOption_polkitIsNotAsked() async throws {
        try await withPolkit([]) { service, polkit in
            await polkit.answerDialogs(with: .authorized)
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createProtectedItem("Bank", [:], "userPresence", session: session)
            let outcome = try await service.unlock([item], as: service.client)
            #expect(outcome.isDismissed)
            #expect(polkit.questions.count == 0)
        }
    }
}
