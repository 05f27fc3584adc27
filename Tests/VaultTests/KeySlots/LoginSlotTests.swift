import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// The key slot by which the unlocked `login` opens another collection.
@VaultActor
@Suite struct LoginSlotTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder, generations: 3))
    }

    private func work(in vault: Vault) throws -> Collection {
        try #require(vault.collections.first { collection in collection.label == "Work" })
    }

    /// Creates `login` and the collection "Work", which opens with it, and has an item.
    private func openedWithSlot() async throws -> (vault: Vault, item: ItemID) {
        let vault = try await opened()
        _ = try await vault.unlockedLogin()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("work"))
        let item = try await work.add(secret: "kept")
        try await work.addLogin(label: "at logins", openedBy: Fixture.bytes("work"))
        return (vault, item)
    }

    /// Unlocks a collection as an unlock of `login` does; false if it cannot.
    private func unlock(_ collection: Collection, in vault: Vault) async throws -> Bool {
        let begun = vault.unlockStart
        guard collection.beginUnlockWithLogin(begun: begun) else { return false }
        try await collection.finishUnlockWithLogin(begun: begun)
        return true
    }

    @Test func unlockWithLogin_afterARestartAndChangesOfBothPasswords() async throws {
        var (vault, item) = try await openedWithSlot()
        #expect(try work(in: vault).keySlots.map(\.kind) == [.password, .login])
        #expect(try work(in: vault).keySlots.last?.label == "at logins")
        let login = try await vault.unlockedLogin()
        try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new"))
        try await work(in: vault).changePassword(from: Fixture.bytes("work"), to: Fixture.bytes("job"))
        await vault.close()
        vault = try await opened()
        let work = try work(in: vault)
        #expect(work.opensWithLogin)
        #expect(try await !unlock(work, in: vault))
        _ = try await vault.unlockedLogin("new")
        #expect(try await unlock(work, in: vault))
        #expect(work.unlockedBy == .login)
        #expect(try await work.content(of: item) == Array("kept".utf8))
        #expect(try await !unlock(work, in: vault))
        await vault.close()
    }

    @Test func unlockWithLogin_lockedSinceTheUnlockBegan_staysLocked() async throws {
        let (vault, _) = try await openedWithSlot()
        let work = try work(in: vault)
        let begun = vault.unlockStart
        work.lock()
        #expect(!work.beginUnlockWithLogin(begun: begun))
        let again = vault.unlockStart
        #expect(work.beginUnlockWithLogin(begun: again))
        #expect(work.state == .unlocking)
        work.lock()
        await #expect(throws: VaultError.of(.locked)) { try await work.finishUnlockWithLogin(begun: again) }
        #expect(work.state == .locked)
        await vault.close()
    }

    @Test func anotherLogin_opensNothing_andTakesTheSlotOver() async throws {
        let (vault, item) = try await openedWithSlot()
        let work = try work(in: vault)
        try await vault.delete(vault.unlockedLogin())
        _ = try await vault.unlockedLogin("another")
        work.lock()
        #expect(!work.opensWithLogin)
        #expect(try await !unlock(work, in: vault))
        try await work.unlock(with: Fixture.bytes("work"))
        #expect(work.problem == nil)
        #expect(try await work.content(of: item) == Array("kept".utf8))
        try await work.addLogin(openedBy: Fixture.bytes("work"))
        #expect(work.keySlots.map(\.number) == [1, 3])
        work.lock()
        #expect(try await unlock(work, in: vault))
        await vault.close()
    }

    @Test func olderFilesOfEither_openAsTheyAre() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        _ = try await vault.createCollection(label: "Work", password: Fixture.bytes("work"))
        await vault.close()
        let (login, before) = (try folder.bytes(of: "login.keychain"), try folder.bytes(of: "Work.keychain"))
        vault = try await opened()
        let present = try await vault.unlockedLogin()
        try await present.add(secret: "later")
        try await work(in: vault).addLogin(openedBy: Fixture.bytes("work"))
        await vault.close()
        // An older `login` still opens the slot.
        try folder.write(login, to: "login.keychain")
        vault = try await opened()
        _ = try await vault.unlockedLogin()
        #expect(try await unlock(work(in: vault), in: vault))
        await vault.close()
        // An older collection has no slot.
        try folder.write(before, to: "Work.keychain")
        vault = try await opened()
        _ = try await vault.unlockedLogin()
        #expect(try !work(in: vault).opensWithLogin)
        try await work(in: vault).unlock(with: Fixture.bytes("work"))
        await vault.close()
    }

    @Test func removeKeySlot_endsIt() async throws {
        let (vault, _) = try await openedWithSlot()
        let work = try work(in: vault)
        try await work.removeKeySlot(2)
        work.lock()
        #expect(!work.opensWithLogin)
        #expect(try await !unlock(work, in: vault))
        await vault.close()
    }

    @Test func addLogin_wrongPasswordLockedOrItself_isRefused() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("work"))
        await #expect(throws: VaultError.of(.wrongPassword)) {
            try await work.addLogin(openedBy: Fixture.bytes(Fixture.password))
        }
        await #expect(throws: VaultError.of(.notSupported)) {
            try await login.addLogin(openedBy: Fixture.bytes(Fixture.password))
        }
        login.lock()
        await #expect(throws: VaultError.of(.locked)) { try await work.addLogin(openedBy: Fixture.bytes("work")) }
        #expect(work.keySlots.count == 1)
        await vault.close()
    }
}
