import Gcrypt
import KeychainModel
import Testing
import Vault

@Suite struct PersistenceTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()

    @VaultActor
    private func reopened(_ vault: Vault) async throws -> Vault {
        await vault.close()
        return try await Vault.opened(Fixture.configuration(folder, clock: clock))
    }

    @VaultActor
    @Test func createItem_reopened_keepsEverything() async throws {
        var vault = try await Vault.opened(Fixture.configuration(folder, clock: clock))
        var login = try await vault.unlockedLogin()
        let secret = try Fixture.secret([0, 10, 13, 255, 254, 0], contentType: "application/x-thing; a=b")
        let creation = try await login.createItem(
            label: "Ünï\n☃",
            attributes: ["": "empty name", "name": "", "ключ": "значение"],
            secret: secret,
            replacing: false
        )
        let before = try #require(login.item(creation.id))

        vault = try await reopened(vault)
        #expect(vault.collection(named: .login)?.state == .locked)
        login = try await vault.unlockedLogin()

        #expect(login.item(creation.id) == before)
        let stored = try await login.storedSecret(of: creation.id)
        #expect(stored.content == [0, 10, 13, 255, 254, 0])
        #expect(stored.contentType == "application/x-thing; a=b")
        #expect(login.problem == nil)
        await vault.close()
    }
}
