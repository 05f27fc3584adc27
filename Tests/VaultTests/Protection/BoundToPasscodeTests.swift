import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Items with `whenPasscodeSetThisDeviceOnly`.
@VaultActor
@Suite struct BoundToPasscodeTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()
    private let bound: Attributes = ["service": "bank", "keychain:accessible": "whenPasscodeSetThisDeviceOnly"]

    private func opened(generations: Int = 0) async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder, clock: clock, generations: generations))
    }

    @Test func noPasscode_isRefused() async throws {
        let vault = try await opened()
        let session = try #require(vault.collection(named: .session))
        await #expect(throws: VaultError.of(.passcodeNotSet)) { try await session.add("x", bound) }
        let id = try await session.add("x", ["service": "bank"])
        await #expect(throws: VaultError.of(.passcodeNotSet)) { try await session.updateItem(id, attributes: bound) }
        #expect(session.item(id)?.attributes == ["service": "bank"])
        _ = try await vault.unlockedLogin()
        try await session.updateItem(id, attributes: bound)
        #expect(session.item(id)?.attributes == bound)
        await vault.close()
    }

    @Test func otherCollection_isRefused() async throws {
        let vault = try await opened()
        _ = try await vault.unlockedLogin()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("own"))
        await #expect(throws: VaultError.of(.notSupported)) { try await work.add("x", bound) }
        #expect(work.itemCount == 0)
        await vault.close()
    }

    @Test func itemsBoundToPasscode_areListed_evenWhileLocked() async throws {
        var vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add("x", bound)
        try await login.add("other", ["keychain:accessible": "whenUnlocked"])
        let session = try #require(vault.collection(named: .session))
        let temporary = try await session.add("y", bound)
        #expect(vault.itemsBoundToPasscode.map(\.item) == [id, temporary])
        #expect(vault.itemsBoundToPasscode.map(\.collection.name) == [.login, .session])
        await vault.close()
        vault = try await opened()
        #expect(vault.itemsBoundToPasscode.map(\.item) == [id])
        await vault.close()
    }

    private var past: [String] { folder.names.filter { name in name.contains("-past-") } }

    @Test func loginDeleted_deletesThem_evenFromFormerFiles() async throws {
        let vault = try await opened(generations: 3)
        let login = try await vault.unlockedLogin()
        try await login.add("x", bound)
        try folder.write(folder.bytes(of: "login.keychain"), to: "login.keychain-past-1700000000")
        let session = try #require(vault.collection(named: .session))
        try await session.add("y", bound)
        let kept = try await session.add("z", ["keychain:accessible": "whenUnlocked"])
        try await vault.delete(login)
        #expect(past.isEmpty)
        #expect(session.itemIDs == [kept])
        #expect(vault.itemsBoundToPasscode.isEmpty)
        #expect(!folder.names.contains("login.keychain"))
        await vault.close()
    }

    @Test func loginDeleted_noSuchItems_isAFormerFile() async throws {
        let vault = try await opened(generations: 3)
        let login = try await vault.unlockedLogin()
        try await login.add("x")
        try await vault.delete(login)
        #expect(past.count == 1)
        await vault.close()
    }
}
