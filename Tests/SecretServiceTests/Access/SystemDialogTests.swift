import DBus
import TestSupport
import Testing

/// The daemon with `--polkit`: the system's own dialog instead of a prompter, of which there is none here.
struct SystemDialogTests {
    private func withPolkit(
        _ arguments: [String] = ["--polkit"],
        _ body: (RunningService, FakePolkit) async throws -> Void
    ) async throws {
        let system = try await PrivateBus()
        let polkit = try await FakePolkit(on: system, .challenge)
        var options = KeychainDaemon.Options()
        options.arguments = arguments + ["--prompters", "none"]
        options.environment["DBUS_SYSTEM_BUS_ADDRESS"] = system.address
        try await RunningService.withService(options) { try await body($0, polkit) }
        await polkit.crash()
    }

    @Test func owner_releasesWhatNeedsPresence() async throws {
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

    @Test(arguments: [FakePolkit.Answer.refused, .dismissed, .challenge, .garbage, .crash])
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

    @Test(arguments: ["devicePasscode", "biometryAny"])
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

    @Test func polkitGrantsWithoutAsking_releasesNothing() async throws {
        try await withPolkit { service, polkit in
            await polkit.answerEverything(with: .authorized)
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createProtectedItem("Bank", [:], "userPresence", session: session)
            let outcome = try await service.unlock([item], as: service.client)
            #expect(outcome.isDismissed)
        }
    }

    @Test func withoutTheOption_polkitIsNotAsked() async throws {
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
