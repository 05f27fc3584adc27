import KeychaindModel
import KeychaindVault
import Testing

@VaultActor
@Suite struct AliasTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    @Test func setAlias_moreThanTheLimit_isRefused_andOthersCanBeSetAgain() async throws {
        let vault = try await opened()
        let login = vault.collection(named: .login)
        for number in 0..<VaultLimits.aliasesPerCollection { try await vault.setAlias("old \(number)", to: login) }
        try await vault.setAlias("old 7", to: login)
        await #expect(throws: VaultError(.limitExceeded, reason: "")) { try await vault.setAlias("new", to: login) }
        try await vault.setAlias("old 7", to: nil)
        try await vault.setAlias("new", to: login)
        await vault.close()
    }

    @Test func aliases_builtInOrInvalid_areRefused() async throws {
        let vault = try await opened()
        let session = vault.collection(named: .session)
        for alias in ["login", "session"] {
            await #expect(throws: VaultError(.notSupported, reason: "")) {
                try await vault.setAlias(alias, to: session)
            }
        }
        for alias in ["", String(repeating: "a", count: 101)] {
            await #expect(throws: VaultError(.limitExceeded, reason: "")) {
                try await vault.setAlias(alias, to: session)
            }
        }
        try await vault.setAlias("none", to: nil)
        #expect(vault.aliases.isEmpty)
        await vault.close()
    }
}
