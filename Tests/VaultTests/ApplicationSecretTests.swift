import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Application secrets, which no item holds.
@VaultActor
@Suite struct ApplicationSecretTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    private func secret(_ application: String, in collection: Vault.Login) throws -> [UInt8] {
        try collection.applicationSecret(for: application).withUnsafeBytes { Array($0) }
    }

    @Test func applicationSecret_isStableAndUnique() async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let first = try secret("org.example.Mail", in: login)
        #expect(first.count == 64)
        #expect(try secret("org.example.Mail", in: login) == first)
        #expect(try secret("org.example.Mail2", in: login) != first)
        #expect(try secret("", in: login) != first)
        #expect(login.itemCount == 0)
        await vault.close()
        vault = try await opened()
        login = try await vault.unlockedLogin()
        #expect(try secret("org.example.Mail", in: login) == first)
    }

    @Test func applicationSecret_survivesPasswordChangeAndHandover() async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let first = try secret("app", in: login)
        try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new"))
        let keys = try #require(try vault.handOver()?.withUnsafeBytes { Array($0) })
        await vault.close()
        vault = try await opened()
        _ = try await vault.takeOver(SecureBytes(copying: keys))
        login = try #require(vault.collection(named: .login))
        #expect(try secret("app", in: login) == first)
        login.lock()
        try await login.unlock(with: Fixture.bytes("new"))
        #expect(try secret("app", in: login) == first)
    }

    @Test func applicationSecret_lockedOrInMemory_isRefused() async throws {
        let vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        #expect(throws: VaultError(.locked, reason: "")) { try login.applicationSecret(for: "app").count }
        let session = try #require(vault.collection(named: .session))
        #expect(throws: VaultError(.notSupported, reason: "")) { try session.applicationSecret(for: "app").count }
    }

    @Test func applicationSecret_ofAnotherLogin_differs() async throws {
        let vault = try await opened()
        let first = try secret("app", in: try await vault.unlockedLogin())
        try await vault.delete(#require(vault.collection(named: .login)))
        #expect(try secret("app", in: try await vault.unlockedLogin()) != first)
    }
}
