import Glibc
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Another program removes or replaces `state` while the vault is open: what memory has must be in the next one.
@VaultActor
@Suite struct DisplacedStateTests {
    private let folder = TemporaryFolder()
    private let entry = AuditEntry(time: .now(), kind: .denial, outcome: "kept")

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    private var workName: CollectionName { CollectionName(label: "Work") }

    /// Returns a vault with something of each kind in its `state`.
    private func filled() async throws -> Vault {
        let vault = try await opened()
        _ = try await vault.unlockedLogin()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("pw"))
        try await vault.setAlias("mine", to: work)
        try await vault.setLockout([1], of: .people)
        vault.audit(entry, in: .attended)
        #expect(try await vault.auditEntries() == [entry])
        return vault
    }

    /// Makes a change of `state`, closes the vault, and opens it again without the file of Work.
    private func reopened(after vault: Vault) async throws -> Vault {
        try await vault.setLockout([2], of: .programs)
        await vault.close()
        folder.remove("Work.keychain")
        return try await opened()
    }

    private func expectMemory(of vault: Vault) {
        #expect(vault.aliases == ["mine": workName])
        #expect(vault.lockout(of: .people) == .record([1]) && vault.lockout(of: .programs) == .record([2]))
        #expect(vault.collection(named: workName)?.isMissing == true)
    }

    @Test func removedFile_isPutBack() async throws {
        let vault = try await filled()
        folder.remove("state")
        let reopened = try await reopened(after: vault)
        expectMemory(of: reopened)
        // The history is in no other place.
        _ = try await reopened.unlockedLogin()
        #expect(try await reopened.auditEntries() == [entry])
        #expect(!folder.names.contains { name in name.hasPrefix("state.") || name.hasPrefix("state-") })
        await reopened.close()
    }

    @Test func olderFileInItsPlace_getsWhatMemoryHas() async throws {
        let former = try await opened()
        let login = try #require(former.collection(named: .login))
        try await former.setAlias("mine", to: login)
        try await former.setAlias("older", to: login)
        try await former.setLockout([9], of: .people)
        await former.close()
        let older = try folder.bytes(of: "state")
        folder.remove("state")
        let vault = try await filled()
        try folder.write(older, to: "state.synced")
        try #require(rename(folder.file("state.synced"), folder.file("state")) == 0)
        let reopened = try await reopened(after: vault)
        #expect(reopened.aliases["older"] == .login)
        try await reopened.setAlias("older", to: nil)
        expectMemory(of: reopened)
        await reopened.close()
    }
}
