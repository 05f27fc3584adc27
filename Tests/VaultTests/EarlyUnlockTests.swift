import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// The unlock at the start, whose key is derived while the file is read.
@VaultActor
@Suite struct EarlyUnlockTests {
    private let folder = TemporaryFolder()

    /// Creates a closed vault with items 1, 2 and 3.
    private func prepare() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        for number in 1...3 {
            try await login.add("label \(number)", ["n": "\(number)", "all": "yes"], secret: "secret \(number)")
        }
        await vault.close()
    }

    /// Opens the vault for an unlock with this password; nil for one that comes later.
    private func opened(
        for password: String?,
        _ unlock: EarlyUnlock = EarlyUnlock()
    ) async throws -> (Vault, Collection) {
        if let password { try unlock.use(Fixture.bytes(password)) }
        let vault = Vault(Fixture.configuration(folder))
        try await vault.open(for: unlock)
        return (vault, try #require(vault.collection(named: .login)))
    }

    private func expectAll(in login: Collection) async throws {
        #expect(login.problem == nil)
        #expect(login.itemCount == 3)
        for id in login.itemIDs {
            #expect(login.search(["n": "\(id)"]) == [id])
            #expect(login.item(id)?.label == "label \(id)")
            #expect(try await login.content(of: id) == Array("secret \(id)".utf8))
        }
    }

    @Test(arguments: ["before the file", "after the file", "not at all"])
    func password_isSupplied(when: String) async throws {
        try await prepare()
        let unlock = EarlyUnlock()
        let (vault, login) = try await opened(for: when == "before the file" ? Fixture.password : nil, unlock)
        if when == "after the file" { try unlock.use(Fixture.bytes(Fixture.password)) }
        #expect(login.state == .locked)
        #expect(login.search(["n": "2"]).count == 1)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        try await expectAll(in: login)
        try await login.add("4", ["n": "4"])
        login.lock()
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(login.itemCount == 4)
        await vault.close()
    }

    @Test func wrongPassword_staysLocked_andTheRightOneWorks() async throws {
        try await prepare()
        let (vault, login) = try await opened(for: "wrong")
        await #expect(throws: VaultError(.wrongPassword, reason: "")) {
            try await login.unlock(with: Fixture.bytes("wrong"))
        }
        #expect(login.state == .locked)
        #expect(login.search(["all": "yes"]).count == 3)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        try await expectAll(in: login)
        await vault.close()
    }

    @Test func anotherPassword_doesNotGetItsKey() async throws {
        try await prepare()
        let (vault, login) = try await opened(for: Fixture.password)
        await #expect(throws: VaultError(.wrongPassword, reason: "")) {
            try await login.unlock(with: Fixture.bytes("wrong"))
        }
        #expect(login.state == .locked)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        try await expectAll(in: login)
        await vault.close()
    }

    @Test func rightPassword_afterAWrongEarlyOne_unlocks() async throws {
        try await prepare()
        let (vault, login) = try await opened(for: "wrong")
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        try await expectAll(in: login)
        await vault.close()
    }

    @Test func ended_staysLocked_andAnUnlockWorks() async throws {
        try await prepare()
        let (vault, login) = try await opened(for: Fixture.password)
        vault.endEarlyUnlock()
        #expect(login.state == .locked)
        #expect(login.search(["n": "1"]).count == 1)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        try await expectAll(in: login)
        await vault.close()
    }

    @Test func noFile_isCreated() async throws {
        let (vault, login) = try await opened(for: Fixture.password)
        #expect(login.state == .vacant)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        try await login.add()
        vault.endEarlyUnlock()
        #expect(login.state == .unlocked)
        await vault.close()
    }

    @Test func lock_meanwhile_refusesTheUnlock() async throws {
        try await prepare()
        let (vault, login) = try await opened(for: Fixture.password)
        let unlocking = Task.immediate { @VaultActor in try await login.unlock(with: Fixture.bytes(Fixture.password)) }
        #expect(login.state == .unlocking)
        login.lock()
        await #expect(throws: VaultError(.locked, reason: "")) { try await unlocking.value }
        #expect(login.state == .locked)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        try await expectAll(in: login)
        await vault.close()
    }

    @Test func close_meanwhile_ends() async throws {
        try await prepare()
        let (vault, login) = try await opened(for: Fixture.password)
        let unlocking = Task.immediate { @VaultActor in try? await login.unlock(with: Fixture.bytes(Fixture.password)) }
        await vault.close()
        _ = await unlocking.value
        #expect(login.state == .locked)
    }

    /// Another program that has the file open before the vault, which would keep it out.
    private func otherConnection() throws -> RawDatabase {
        let foreign = try RawDatabase(folder.file("login.keychain"))
        try foreign.execute("SELECT * FROM header")
        return foreign
    }

    // The rows in memory are from before the change.
    @Test func rowChanged_betweenReadingAndUnlock_isNoticed() async throws {
        try await prepare()
        let foreign = try otherConnection()
        let (vault, login) = try await opened(for: Fixture.password)
        try foreign.execute(
            "UPDATE item SET metadata = zeroblob(length(metadata)) WHERE id = 2"
        )
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(login.problem?.contains("1 of its items is damaged") == true)
        await vault.close()
    }

    @Test func rowRemoved_betweenReadingAndUnlock_isNoticed() async throws {
        try await prepare()
        let foreign = try otherConnection()
        let (vault, login) = try await opened(for: Fixture.password)
        try foreign.execute("DELETE FROM item WHERE id = 2")
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(login.problem?.contains("the file has 2 items, the collection had 3") == true)
        await vault.close()
    }

    // Changes would go into a file that nobody finds again.
    @Test func fileReplaced_betweenReadingAndUnlock_isNoticedByAChange() async throws {
        try await prepare()
        let copy = try folder.bytes(of: "login.keychain")
        let (vault, login) = try await opened(for: Fixture.password)
        folder.remove("login.keychain")
        try folder.write(copy, to: "login.keychain")
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        await #expect(throws: VaultError(.displaced, reason: "")) { try await login.add() }
        await vault.close()
    }

    @Test func newIndexKey_makesNewTags() async throws {
        try await prepare()
        folder.remove("index.key")
        let (vault, login) = try await opened(for: Fixture.password)
        #expect(login.search(["n": "1"]).isEmpty)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(login.search(["n": "1"]).count == 1)
        #expect(login.itemCount == 3)
        await vault.close()
    }
}
