import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// What is recorded of programs in a sandbox, as the service reads it.
@Suite(.onLoop)
struct SandboxRecordTests {
    @Test("A record with the earliest time there is lets its program call, which is recorded")
    @BusActor
    func earliestTime_programCalls_isAnswered() async throws {
        let program = "flatpak:org.example.Chat"
        let service = try await ProviderInProcess(
            opens: false,
            confinement: .sandbox(.flatpak("org.example.Chat"))
        )
        let earliest = Timestamp(microsecondsSinceEpoch: .min)
        try await service.vault.record([program: SandboxRecord(.limited, lastCall: earliest)], since: earliest)
        service.provider.vaultIsOpen()
        #expect(try await service.client.searchItems([:]).unlocked == [])
        try await eventually("the call is recorded") {
            try await service.vault.sandboxRecords().programs[program]?.lastCall != earliest
        }
    }

    @Test(
        "a disk that never answers limits the programs installed on it, and holds up no start",
        .enabled(if: StalledFile.isPossible)
    )
    @BusActor
    func firstStart_diskOfInstallationsNeverAnswers_programIsLimited() async throws {
        let folder = try TemporaryFolder()
        let stalled = try StalledFile(in: folder.path, named: "org.example.Mail", from: .look)
        defer { stalled.end() }
        let service = try await ProviderInProcess(
            confinement: .sandbox(.flatpak("org.example.Chat")),
            installations: SandboxInstallations(flatpaks: [folder.path], patience: .zero)
        )
        #expect(try await service.client.searchItems([:]).unlocked == [])
        // The next start looks again.
        #expect(try await service.vault.sandboxRecords().since == nil)
    }

    @Test("beside as many programs as can be recorded, another is limited and not recorded")
    @BusActor
    func limit_anotherProgramCalls_isNotRecorded() async throws {
        let service = try await ProviderInProcess(
            opens: false,
            confinement: .sandbox(.flatpak("org.example.Chat"))
        )
        let names = (1...SandboxRecord.limit).map { "flatpak:org.example.App\($0)" }
        let records = Dictionary(uniqueKeysWithValues: names.map { ($0, SandboxRecord(.open)) })
        try await service.vault.record(records, since: Timestamp(seconds: 0))
        service.provider.vaultIsOpen()
        #expect(try await service.client.searchItems([:]).unlocked == [])
        // Records are written in order.
        try await service.vault.record([names[0]: SandboxRecord(.limited)])
        let stored = try await service.vault.sandboxRecords().programs
        #expect(stored.count == SandboxRecord.limit)
        #expect(stored["flatpak:org.example.Chat"] == nil)
        #expect(stored[names[0]]?.state == .limited)
    }
}
