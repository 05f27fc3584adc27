import KeychaindModel
import KeychaindVault
import Testing

struct VaultLimitsTests {
    @Test
    func itemPaths_fitIntoOneArray() {
        let prefix = "/org/freedesktop/secrets/collection/".utf8.count
        // After the name come a slash and the ID; around each path its length, a NUL and padding.
        let path = prefix + CollectionName.maximumLength + 1 + "\(Int64.max)".utf8.count + 4 + 1 + 3
        #expect(VaultLimits().items * path <= 64 << 20)
    }

    /// Secrets that are read from the disk on demand count, too.
    @Test(arguments: [1000, 10_000])
    @VaultActor
    func sandboxQuota_isTheSameAfterARestart(secretBytes: Int) async throws {
        let folder = TemporaryFolder()
        let attributes = Attributes([("n", "1"), (Attributes.program, "flatpak:org.example.Chat")])
        func add(_ count: Int, to login: Vault.Login) async throws {
            let secret = try Fixture.secret([UInt8](repeating: 1, count: count))
            _ = try await login.createItem(
                label: "x",
                attributes: attributes,
                secret: secret,
                replacing: false,
                sandboxed: true
            )
        }
        var limits = VaultLimits()
        limits.sandboxBytes = 2 * secretBytes + 500
        let configuration = Fixture.configuration(folder, limits: limits)
        let vault = try await Vault.opened(configuration)
        var login = try await vault.unlockedLogin()
        for _ in 0..<2 { try await add(secretBytes, to: login) }
        await #expect(throws: VaultError.of(.limitExceeded)) { try await add(500, to: login) }
        await vault.close()
        let again = try await Vault.opened(configuration)
        login = try await again.unlockedLogin()
        await #expect(throws: VaultError.of(.limitExceeded)) { try await add(500, to: login) }
        try await login.deleteItem(login.itemIDs[0])
        try await add(500, to: login)
        await again.close()
    }
}
