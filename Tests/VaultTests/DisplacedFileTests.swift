import Foundation
import Glibc
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Another program replaces or removes files of an open vault, as one that synchronises or restores folders does.
@VaultActor
@Suite struct DisplacedFileTests {
    enum Displacement: CaseIterable {
        case renameOver, unlink, folderSwap, journalUnlink
    }

    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        var configuration = Fixture.configuration(folder)
        configuration.directory = folder.file("vault")
        return try await Vault.opened(configuration)
    }

    /// Moves something else to the place of `login`; the present file stays as it is, elsewhere.
    private func displace(_ displacement: Displacement, by older: TemporaryFolder) throws {
        let files = FileManager.default
        let file = folder.file("vault/login.keychain")
        switch displacement {
        case .renameOver:
            for suffix in ["", "-wal"] where files.fileExists(atPath: older.file("login.keychain" + suffix)) {
                try files.copyItem(atPath: older.file("login.keychain" + suffix), toPath: file + ".synced")
                try #require(rename(file + ".synced", file + suffix) == 0)
            }
        case .unlink: try #require(unlink(file) == 0)
        case .folderSwap:
            try files.moveItem(atPath: folder.file("vault"), toPath: folder.file("away"))
            try files.copyItem(atPath: older.path, toPath: folder.file("vault"))
        case .journalUnlink: try #require(unlink(file + "-wal") == 0)
        }
    }

    @Test(arguments: Displacement.allCases)
    func noChangeIsAcknowledged_thatTheNextStartDoesNotFind(_ displacement: Displacement) async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let kept = try await login.add("kept", ["n": "1"], secret: "kept")
        let older = try folder.snapshot(of: "vault")
        try await login.add("later", ["n": "2"])
        var found: Collection?
        vault.onDisplacement = { found = $0 }
        try displace(displacement, by: older)

        for _ in 0..<2 {
            let error = await #expect(throws: VaultError.self) { try await login.add("lost", ["n": "3"]) }
            #expect(error == .of(.displaced) && error?.reason.contains("login.keychain") == true)
        }
        #expect(found === login)
        let new = try #require(await vault.takeUp(login))
        #expect(await vault.takeUp(login) == nil)
        #expect(vault.collection(named: .login) === new)
        if displacement == .unlink {
            guard case .unreadable = new.state else { return #expect(Bool(false), "\(new.state)") }
            #expect(new.problem != nil)
            await vault.close()
            return
        }
        // The keys in memory open what is there now, and changes go into it.
        #expect(new.state == .unlocked && new.contains(kept))
        let next = try await new.add("next", ["n": "4"])
        let expected = new.itemIDs
        await vault.close()
        let reopened = try await opened()
        let again = try await reopened.unlockedLogin()
        #expect(again.itemIDs == expected && expected.contains(next))
        await reopened.close()
    }

    @Test func anotherKeychainInItsPlace_isLocked() async throws {
        let other = TemporaryFolder()
        let stranger = try await Vault.opened(Fixture.configuration(other))
        _ = try await stranger.unlockedLogin("another password")
        await stranger.close()
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add("kept")
        try displace(.renameOver, by: other)
        await #expect(throws: VaultError.of(.displaced)) { try await login.add("lost") }
        let new = try #require(await vault.takeUp(login))
        #expect(new.state == .locked && new.itemIDs.isEmpty)
        try await new.unlock(with: Fixture.bytes("another password"))
        try await new.add("next")
        await vault.close()
    }
}
