import Foundation
import Glibc
import KeychaindModel
import KeychaindVault
import Testing

/// Restoring a state from before items were protected.
@VaultActor @Suite struct RestoredProtectionTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> (Vault, Vault.Login) {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        return (vault, try await vault.unlockedLogin())
    }

    /// Stores an open item, then protects it and another one; returns the item, and the file before that.
    private func prepare() async throws -> (ItemID, [UInt8]) {
        let (vault, login) = try await opened()
        let id = try await login.add("bank", ["service": "bank"])
        await vault.close()
        let older = try folder.bytes(of: "login.keychain")
        let (again, present) = try await opened()
        try await present.updateItem(id, attributes: .protected("userPresence"))
        try await present.protect("userPresence", "later")
        await again.close()
        return (id, older)
    }

    /// Restores a state as a person does, and returns it locked.
    private func restore(_ file: [UInt8], in vault: Vault, over login: Vault.Login) async throws -> Vault.Login {
        try folder.write(file, to: "backup")
        let descriptor = open(folder.file("backup"), O_RDONLY | O_CLOEXEC)
        let staged = try await vault.stage(OpenedFile(owning: descriptor))
        return try await vault.restore(staged, as: .login, inPlaceOf: login)
    }

    /// Opens the vault, restores a state, and unlocks it.
    private func openedAndRestored(_ file: [UInt8]) async throws -> (Vault, Vault.Login) {
        let (vault, login) = try await opened()
        let restored = try await restore(file, in: vault, over: login)
        try await restored.unlock(with: Fixture.bytes(Fixture.password))
        return (vault, restored)
    }

    private func putBack(_ file: [UInt8]) throws {
        try folder.write(file, to: "login.keychain")
    }

    @Test func restoredState_isNoRollback_andItsItemsStayProtected() async throws {
        let (id, older) = try await prepare()
        let (vault, restored) = try await openedAndRestored(older)
        #expect(restored.problem == nil && restored.protection(of: id).needsAuthentication)
        await vault.close()
        let (second, reopened) = try await opened()
        #expect(reopened.problem == nil && reopened.protection(of: id).needsAuthentication)
        // The ID of the missing item is not used again.
        let new = try await reopened.add("new", ["service": "new"])
        #expect(new.rawValue == 3)
        await second.close()
        let (third, changed) = try await opened()
        #expect(changed.problem == nil && changed.protection(of: id).needsAuthentication)
        await #expect(throws: VaultError.of(.authenticationNeeded)) { try await changed.deleteItem(id) }
        try await changed.updateItem(id, label: "bank", authenticated: true)
        await third.close()
        let (last, stored) = try await opened()
        #expect(stored.problem == nil && stored.protection(of: id).needsAuthentication)
        await last.close()
    }

    @Test func restoredState_afterAChange_isARollback() async throws {
        let (id, older) = try await prepare()
        let (vault, login) = try await openedAndRestored(older)
        try await login.add("new", ["service": "new"])
        await vault.close()
        try putBack(older)
        let (again, rolledBack) = try await opened()
        #expect(rolledBack.problem?.contains("the file was rolled back to an older one") == true)
        #expect(rolledBack.protection(of: id).needsAuthentication)
        await again.close()
    }

    @Test func restoredItem_afterItWasStoredAgain_isARollback() async throws {
        let (id, older) = try await prepare()
        let (vault, login) = try await openedAndRestored(older)
        try await login.add("new", ["service": "new"])
        await vault.close()
        let between = try folder.bytes(of: "login.keychain")
        let (second, reopened) = try await opened()
        try await reopened.updateItem(id, label: "bank", authenticated: true)
        await second.close()
        try putBack(between)
        let (third, rolledBack) = try await opened()
        #expect(rolledBack.problem?.contains("1 of its items was rolled back") == true)
        #expect(rolledBack.protection(of: id).needsAuthentication)
        await third.close()
    }

    @Test func restoredState_neverUnlocked_isReported() async throws {
        let (id, older) = try await prepare()
        let (vault, login) = try await opened()
        _ = try await restore(older, in: vault, over: login)
        await vault.close()
        let (again, reopened) = try await opened()
        #expect(reopened.problem?.contains("the file was rolled back to an older one") == true)
        #expect(reopened.protection(of: id).needsAuthentication)
        await again.close()
    }

    @Test func otherFile_afterARestore_isReported() async throws {
        let (first, firstLogin) = try await opened()
        try await firstLogin.add("first", ["n": "1"])
        await first.close()
        let oldest = try folder.bytes(of: "login.keychain")
        let (_, older) = try await prepare()
        let (vault, restored) = try await openedAndRestored(older)
        #expect(restored.problem == nil)
        await vault.close()
        try putBack(oldest)
        let (again, rolledBack) = try await opened()
        #expect(rolledBack.problem?.contains("the file was rolled back to an older one") == true)
        await again.close()
    }
}
