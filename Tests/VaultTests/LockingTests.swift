import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

@VaultActor
@Suite struct LockingTests {
    let folder = TemporaryFolder()

    func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    func openedSlowly() async throws -> Vault {
        var configuration = Fixture.configuration(folder)
        configuration.keyDerivation = Fixture.slowDerivation
        return try await Vault.opened(configuration)
    }

    @Test func login_freshFolder_isCreatedByTheFirstUnlock() async throws {
        let vault = try await opened()
        let login = try #require(vault.collection(forAlias: "default"))
        #expect(login.name == .login)
        #expect(login.state == .vacant)
        #expect(!folder.names.contains("login.keychain"))
        try await login.unlock(with: Fixture.bytes("new"))
        #expect(login.state == .unlocked)
        #expect(folder.names.contains("login.keychain"))
        await vault.close()
    }

    @Test func unlock_emptyPassword_isRefusedEverywhere() async throws {
        let vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        await #expect(throws: VaultError(.emptyPassword, reason: "")) {
            try await login.unlock(with: Fixture.bytes(""))
        }
        #expect(login.state == .vacant)
        await #expect(throws: VaultError(.emptyPassword, reason: "")) {
            _ = try await vault.createCollection(label: "x", password: Fixture.bytes(""))
        }
        #expect(vault.collections.map(\.name) == [.login, .session])
        try await login.unlock(with: Fixture.bytes("pw"))
        login.lock()
        await #expect(throws: VaultError(.emptyPassword, reason: "")) {
            try await login.unlock(with: Fixture.bytes(""))
        }
        #expect(login.state == .locked)
        await vault.close()
    }

    @Test func unlock_wrongPassword_staysLocked_andTheRightOneWorks() async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add()
        await vault.close()
        vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        for wrong in ["wrong", "correct horse ", "Correct horse", "c"] {
            await #expect(throws: VaultError(.wrongPassword, reason: "")) {
                try await login.unlock(with: Fixture.bytes(wrong))
            }
            #expect(login.state == .locked)
        }
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(try await login.content(of: id) == Array("secret".utf8))
        await vault.close()
    }

    @Test func unlock_passwordWithNULAndInvalidUTF8_isComparedBytewise() async throws {
        let vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        try await login.unlock(with: SecureBytes(copying: [0, 255, 10]))
        login.lock()
        await #expect(throws: VaultError(.wrongPassword, reason: "")) {
            try await login.unlock(with: SecureBytes(copying: [0, 255]))
        }
        try await login.unlock(with: SecureBytes(copying: [0, 255, 10]))
        await vault.close()
    }

    @Test func unlock_ofAnUnlockedCollection_triesNoPassword() async throws {
        let vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        #expect(try await login.unlock(with: Fixture.bytes("pw")))
        #expect(try await !login.unlock(with: Fixture.bytes("wrong")))
        #expect(login.state == .unlocked)
        login.lock()
        #expect(try await login.unlock(with: Fixture.bytes("pw")))
        await vault.close()
    }

    @Test func unlock_passwordTooLong_isRefused() async throws {
        let vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        await #expect(throws: VaultError(.limitExceeded, reason: "")) {
            try await login.unlock(with: SecureBytes(count: VaultLimits().passwordBytes + 1))
        }
        await vault.close()
    }

    @Test func lock_keepsMetadata_andWipesSecrets() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add("label", ["a": "1"])
        let before = login.item(id)
        login.lock()
        #expect(login.state == .locked)
        #expect(login.item(id) == before)
        #expect(login.search(["a": "1"]) == [id])
        #expect(throws: VaultError(.locked, reason: "")) { _ = try login.secret(of: id) }
        await #expect(throws: VaultError(.locked, reason: "")) { _ = try await login.storedSecret(of: id) }
        await #expect(throws: VaultError(.locked, reason: "")) { try await login.add() }
        await #expect(throws: VaultError(.locked, reason: "")) { try await login.deleteItem(id) }
        await #expect(throws: VaultError(.locked, reason: "")) { try await login.updateItem(id, label: "x") }
        await #expect(throws: VaultError(.locked, reason: "")) { try await login.setLabel("x") }
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(try await login.content(of: id) == Array("secret".utf8))
        try await login.add("after")
        #expect(login.itemCount == 2)
        await vault.close()
    }

    @Test func search_beforeTheFirstUnlock_findsByBlindTags() async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let first = try await login.add("1", ["service": "a", "user": "x"])
        let second = try await login.add("2", ["service": "a", "user": "y"])
        try await login.add("3", ["service": "b", "user": "y"])
        await vault.close()

        vault = try await opened()
        login = try #require(vault.collection(named: .login))
        #expect(login.search(["service": "a"]) == [second, first])
        #expect(login.search(["service": "a", "user": "y"]) == [second])
        #expect(login.search(["service": "b", "user": "x"]).isEmpty)
        #expect(login.search(["service": "A"]).isEmpty)
        #expect(login.search([:]).count == 3)
        #expect(login.item(first)?.condition == .unread)
        #expect(login.item(first)?.attributes.isEmpty == true)
        #expect(throws: VaultError(.locked, reason: "")) { _ = try login.secret(of: first) }
        await vault.close()
    }

    @Test func unlock_noLockedMemory_isRefused_untilThereIsSome() async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add()
        await vault.close()
        var limits = VaultLimits()
        // More than the whole pool.
        limits.keyReserveBytes = 32 * 1024 * 1024
        vault = try await Vault.opened(Fixture.configuration(folder, limits: limits))
        let login = try #require(vault.collection(named: .login))
        await #expect(throws: VaultError.of(.limitExceeded)) {
            try await login.unlock(with: Fixture.bytes(Fixture.password))
        }
        #expect(login.state == .locked)
        await #expect(throws: VaultError.of(.limitExceeded)) {
            _ = try await vault.createCollection(label: "Work", password: Fixture.bytes("pw"))
        }
        #expect(vault.collections.map(\.name) == [.login, .session])
        await vault.close()
        vault = try await opened()
        #expect(try await vault.unlockedLogin().itemIDs == [id])
        await vault.close()
    }

    @Test func isBeingMade_onlyDuringCreation() async throws {
        let vault = try await openedSlowly()
        let name = try #require(CollectionName(encoded: "Work"))
        let making = Task.immediate { @VaultActor in
            _ = try await vault.createCollection(label: "Work", password: Fixture.bytes("pw"))
        }
        let work = try #require(vault.collection(named: name))
        #expect(work.state == .unlocking)
        #expect(work.isBeingMade)
        try await making.value
        #expect(!work.isBeingMade)
        work.lock()
        let unlocking = Task.immediate { @VaultActor in try await work.unlock(with: Fixture.bytes("pw")) }
        #expect(work.state == .unlocking)
        #expect(!work.isBeingMade)
        _ = try await unlocking.value
        await vault.close()
    }
}
