import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Backups that would be too large to be read back.
@Suite(.onLoop)
struct BackupLimitTests {
    private static let path = ObjectPath(unchecked: "/org/keychaind/Backups")

    @Test("#48 a backup that is too large is LimitsExceeded and a problem of the keychain, until one fits again")
    @BusActor
    func tooLarge_isToldUntilOneFits() async throws {
        var limits = VaultLimits()
        limits.copyBytes = 2 << 20
        let service = try await ProviderInProcess(vaultLimits: limits, hasHome: true)
        let (client, login) = (service.client, try service.collection(.login))
        func backUp() async throws(BusError) {
            _ = try await client.call(Self.path, "org.keychaind.Backups1", "BackUp")
        }
        func problem() async throws(BusError) -> String {
            try await client.property("Problem", of: .login, "org.keychaind.Collection1", as: String.self)
        }
        try await backUp()
        try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        let large = try await login.createItem(
            label: "large",
            attributes: Attributes(),
            secret: Secret(bytes: SecureBytes(count: 4 << 20), contentType: ""),
            replacing: false
        )
        await #expect(throws: BusError.limitsExceeded) { try await backUp() }
        #expect(try await problem().contains("no new copies"))
        try await login.deleteItem(large.id)
        try await backUp()
        #expect(try await problem().isEmpty)
    }
}
