import Foundation
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Deletions of a collection that a power loss has interrupted.
@VaultActor
@Suite struct InterruptedDeletionTests {
    private static let file = "Work.keychain"
    private static let leftover = "Work.keychain-deleted"

    /// Returns a copy of a folder after a crash.
    private func crashed() async throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        let vault = try await Vault.opened(Fixture.configuration(folder))
        try await vault.unlockedLogin().add()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("work"))
        for number in 0..<3 { try await work.add("x", ["n": "\(number)"]) }
        try await vault.setAlias("office", to: work)
        let copy = try folder.snapshot()
        await vault.close()
        return copy
    }

    @Test func removal_afterTheRename_isFinishedAtTheStart() async throws {
        let folder = try await crashed()
        try FileManager.default.moveItem(atPath: folder.file(Self.file), toPath: folder.file(Self.leftover))
        let vault = try await Vault.opened(Fixture.configuration(folder))
        #expect(vault.collections.map(\.name) == [.login, .session])
        #expect(!folder.names.contains { name in name.hasPrefix("Work") })
        // Its name is free again.
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("other"))
        #expect(work.name.encoded == "Work" && work.itemIDs.isEmpty)
        #expect(vault.collection(forAlias: "office") == nil)
        await vault.close()
        let again = try await Vault.opened(Fixture.configuration(folder))
        #expect(again.collection(named: work.name)?.state == .locked)
        #expect(again.collection(forAlias: "office") == nil)
        await again.close()
    }

    @Test func fileThatWasPutBack_stays() async throws {
        let folder = try await crashed()
        try folder.write(folder.bytes(of: Self.file), to: Self.leftover)
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let work = try #require(vault.collection(forAlias: "office"))
        try await work.unlock(with: Fixture.bytes("work"))
        #expect(work.itemCount == 3 && work.problem == nil)
        #expect(!folder.names.contains(Self.leftover))
        await vault.close()
    }

    @Test func fileOfAnotherProgram_isNotDeleted() async throws {
        let folder = try await crashed()
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let work = try #require(vault.collection(forAlias: "office"))
        let other = try folder.bytes(of: "login.keychain")
        folder.remove(Self.file)
        try folder.write(other, to: Self.file)
        var found: Collection?
        vault.onDisplacement = { found = $0 }
        await #expect(throws: VaultError.of(.displaced)) { try await vault.delete(work) }
        #expect(found === work)
        #expect(try folder.bytes(of: Self.file) == other)
        await vault.close()
    }
}
