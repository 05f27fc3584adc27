import KeychaindModel
import KeychaindVault
import Testing

@VaultActor
@Suite struct CollectionDeletionTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    @Test func delete_removesFileAndAliases_durably() async throws {
        let vault = try await opened()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("pw"))
        try await work.add()
        try await vault.setAlias("default", to: work)
        try await vault.setAlias("other", to: work)
        try await vault.delete(work)
        #expect(vault.collection(named: work.name) == nil)
        #expect(vault.aliases.isEmpty)
        #expect(vault.collection(forAlias: "default")?.name == .login)
        #expect(!folder.names.contains { name in name.hasPrefix("Work") })
        await #expect(throws: VaultError(.noSuchCollection, reason: "")) { try await work.add() }
        await #expect(throws: VaultError(.noSuchCollection, reason: "")) {
            try await work.unlock(with: Fixture.bytes("pw"))
        }
        await #expect(throws: VaultError(.noSuchCollection, reason: "")) { try await vault.delete(work) }
        await #expect(throws: VaultError(.noSuchCollection, reason: "")) { try await vault.setAlias("x", to: work) }
        await vault.close()
        let reopened = try await opened()
        #expect(reopened.collections.map(\.name) == [.login, .session])
        #expect(reopened.aliases.isEmpty)
        await reopened.close()
    }

    @Test func delete_aliasesNotWritable_succeeds() async throws {
        let creating = try await opened()
        _ = try await creating.createCollection(label: "Work", password: Fixture.bytes("pw"))
        await creating.close()
        let disk = FailingDisk()
        var configuration = Fixture.configuration(folder)
        configuration.system = disk.system
        let vault = try await Vault.opened(configuration)
        let work = try #require(vault.collections.first { $0.label == "Work" })
        try await vault.setAlias("other", to: work)
        disk.failure = FailingDisk.Failure(file: "state")
        try await vault.delete(work)
        #expect(vault.collection(named: work.name) == nil)
        #expect(vault.aliases.isEmpty)
        disk.failure = nil
        await vault.close()
    }

    @Test func delete_whileUnlocking_staysDeleted() async throws {
        var configuration = Fixture.configuration(folder)
        configuration.keyDerivation = Fixture.slowDerivation
        let vault = try await Vault.opened(configuration)
        let login = try await vault.unlockedLogin()
        login.lock()
        let unlocking = Task.immediate { @VaultActor in try await login.unlock(with: Fixture.bytes(Fixture.password)) }
        #expect(login.state == .unlocking)
        try await vault.delete(login)
        // The unlock may finish first; the collection is deleted either way.
        _ = await unlocking.result
        #expect(login.state == .locked)
        await #expect(throws: VaultError(.noSuchCollection, reason: "")) { try await login.add() }
        #expect(vault.collection(named: .login)?.state == .vacant)
        await vault.close()
    }

    @Test func delete_withPendingChanges_answersAll() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let tasks = (0..<20).map { number in Task { @VaultActor in try await login.add("x", ["n": "\(number)"]) } }
        _ = try await tasks[0].value
        try await vault.delete(login)
        for task in tasks { _ = await task.result }
        #expect(!folder.names.contains("login.keychain"))
        #expect(login.itemCount == 0)
        await vault.close()
    }

    @Test func delete_login_isVacantAgain() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add()
        try await vault.delete(login)
        let fresh = try #require(vault.collection(named: .login))
        #expect(fresh !== login)
        #expect(fresh.state == .vacant)
        #expect(fresh.itemCount == 0)
        try await fresh.unlock(with: Fixture.bytes("another password"))
        try await fresh.add()
        await vault.close()
    }

    @Test func delete_withoutAFile_isNotSupported() async throws {
        let vault = try await opened()
        for name in [CollectionName.login, .session] {
            let collection = try #require(vault.collection(named: name))
            await #expect(throws: VaultError(.notSupported, reason: "")) { try await vault.delete(collection) }
        }
        #expect(vault.collections.count == 2)
        await vault.close()
    }
}
