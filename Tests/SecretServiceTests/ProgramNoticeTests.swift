import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Notifications about programs that read items, and about sandboxes.
@Suite(.onLoop)
struct ProgramNoticeTests {
    private static let identity = "flatpak:com.usebottles.bottles"

    private static func read(_ item: ObjectPath, by identity: String = identity) -> ProgramRead {
        ProgramRead(
            identity: identity,
            caller: "Flatpak com.usebottles.bottles [sandbox-file]",
            item: item,
            rule: "notify any *"
        )
    }

    private static func item(_ number: Int) -> ObjectPath {
        ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login/\(number)")
    }

    @Test("the reads of a program are one notification, and its answer goes with the read")
    @BusActor
    func reads_areGathered_andAnswered() async throws {
        let service = try await ProviderInProcess()
        let desktop = try FakeNotifications(on: service.bus, capabilities: ["actions"])
        var answers: [ProgramRead.Answer] = []
        let answered = Recorder<ProgramRead>()
        service.provider.notices.programs.onAnswer = { answer, read in
            answers.append(answer)
            answered.record(read)
        }
        let programs = service.provider.notices.programs
        for number in [1, 2, 2, 3, 4, 5, 1] { programs.programHasRead(Self.read(Self.item(number))) }
        let shown = try await desktop.shown.first("the notification")
        #expect(shown.summary == "The application “com.usebottles.bottles” has read 5 secrets")
        #expect(shown.body.contains("and 2 more.") && shown.body.contains("“notify any *”"))
        #expect(shown.body.contains("held in") || shown.body.contains("as a file"))
        #expect(Set(shown.actions.values) == ["That’s fine", "Ask from now on"])
        try await desktop.press("Ask from now on", of: shown)
        let read = try await answered.first("the answer")
        #expect(read == Self.read(Self.item(1)) && answers == [.ask])
    }

    @Test("a read is told once a day, also after a restart; another item of the program is told")
    @BusActor
    func reads_areToldOnce() async throws {
        let first = try await ProviderInProcess()
        let desktop = try FakeNotifications(on: first.bus)
        first.provider.notices.programs.programHasRead(Self.read(Self.item(1)))
        _ = try await desktop.shown.first("the notification")
        _ = try await desktop.acknowledged.first("the end of the notification's call")
        await first.vault.close()
        let second = try await ProviderInProcess(folder: first.folder)
        let other = try FakeNotifications(on: second.bus)
        second.provider.notices.programs.programHasRead(Self.read(Self.item(1)))
        second.provider.notices.programs.programHasRead(Self.read(Self.item(2)))
        let shown = try await other.shown.first("the notification of the other item")
        #expect(shown.summary == "The application “com.usebottles.bottles” has read 1 secret")
        await second.vault.close()
    }

    @Test("programs past the limit share a notification without a name and without buttons")
    @BusActor
    func programs_pastTheLimit_shareANotification() async throws {
        let service = try await ProviderInProcess()
        let desktop = try FakeNotifications(on: service.bus, capabilities: ["actions"])
        service.provider.notices.programs.onAnswer = { _, _ in }
        for number in 0..<100 {
            service.provider.notices.programs.programHasRead(Self.read(Self.item(number), by: "program:/tmp/\(number)"))
        }
        let shared = try await desktop.shown.first("the shared notification") { $0.summary.hasPrefix("Other programs") }
        #expect(shared.summary == "Other programs have read 68 secrets")
        #expect(shared.actions.isEmpty)
    }

    @Test("a sandbox is told of once, unless a person says later, and not after it is limited")
    @BusActor
    func unconfirmedSandbox_isToldOnce() async throws {
        let service = try await ProviderInProcess()
        let desktop = try FakeNotifications(on: service.bus, capabilities: ["actions"])
        let limited = Recorder<String>()
        service.provider.notices.programs.onLimit = { limited.record($0) }
        for _ in 0..<2 { service.provider.notices.programs.sandboxIsUnconfirmed(Self.identity) }
        let shown = try await desktop.shown.first("the notification")
        #expect(shown.body.contains("keychainctl sandboxes show flatpak:com.usebottles.bottles"))
        try await desktop.press("Limit it…", of: shown)
        #expect(try await limited.first("the sandbox") == Self.identity)
        service.provider.notices.programs.sandboxIsLimited(Self.identity)
        _ = try await desktop.withdrawn.first("the end of the notification")
        // It was told before.
        service.provider.notices.programs.sandboxIsUnconfirmed(Self.identity)
        service.provider.notices.programs.sandboxIsUnconfirmed("snap:other")
        let next = try await desktop.shown.first("the other notification", after: 1)
        #expect(next.body.contains("snap:other"))
    }
}
