import KeychaindModel
import KeychaindVault
import Testing

/// Deletions of a collection with more protected items than the person who allowed it was told of.
@VaultActor
@Suite struct LateProtectionTests {
    private let folder = TemporaryFolder()

    @Test func itemIsProtectedSince_nothingIsDeleted() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        try await login.protect("userPresence")
        await #expect(throws: VaultError.of(.busy)) { try await vault.delete(login, withProtectedItems: 0) }
        #expect(login.state == .unlocked && login.itemCount == 1)
        try await vault.delete(login, withProtectedItems: 1)
        #expect(!folder.names.contains("login.keychain"))
        await vault.close()
    }

    @Test func itemIsBeingProtected_nothingIsDeleted_andTheItemIsStored() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        let protecting = Task.immediate { @VaultActor in _ = try await login.protect("userPresence") }
        await #expect(throws: VaultError.of(.busy)) { try await vault.delete(login, withProtectedItems: 0) }
        try await protecting.value
        #expect(login.itemCount == 1)
        try await vault.delete(login, withProtectedItems: 1)
        #expect(!folder.names.contains("login.keychain"))
        await vault.close()
    }
}
