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
}
