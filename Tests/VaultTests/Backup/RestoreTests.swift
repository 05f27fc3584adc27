import Foundation
import Glibc
import KeychaindModel
import KeychaindVault
import Testing

/// Restoring a keychain from a file.
@VaultActor @Suite struct RestoreTests {
    private let folder = TemporaryFolder()
    private let home = TemporaryFolder()

    private func open(_ path: String) throws -> OpenedFile {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw CocoaError(.fileNoSuchFile) }
        return OpenedFile(owning: descriptor)
    }

    private var backup: String { home.file("keychaind/backup/login.keychain") }

    /// Creates a vault with one secret in a backup and a second one added later.
    private func withVault(_ body: (Vault, Vault.Login) async throws -> Void) async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        try await login.add("old", ["a": "b"], secret: "old")
        try await vault.backUp(.login, to: BackupFolder(in: home.path))
        try await login.add("new", ["c": "d"], secret: "new")
        try await body(vault, login)
        await vault.close()
    }

    @Test func restore_replacesTheCollection_locked_andKeepsTheFormerFile() async throws {
        try await withVault { vault, login in
            let staged = try await vault.stage(open(backup))
            #expect(staged.label == "Login" && staged.itemCount == 1)
            #expect(vault.name(of: staged, fileName: "Work.keychain") == .login)
            #expect(vault.isCopy(staged, of: login))
            let restored = try await vault.restore(staged, as: .login, inPlaceOf: login)
            #expect(vault.collection(named: .login) === restored && restored.state == .locked)
            await #expect(throws: VaultError(.locked, reason: "")) { try await login.add() }
            try await restored.unlock(with: Fixture.bytes(Fixture.password))
            #expect(restored.itemIDs.count == 1)
            try await restored.add("after", ["e": "f"], secret: "after")
            let former = folder.names.filter { name in name.contains("-past-") }
            #expect(former.count == 1)
            let other = TemporaryFolder()
            try other.write(try folder.bytes(of: former[0]), to: "login.keychain")
            let past = try await Vault.opened(Fixture.configuration(other))
            #expect(try await past.unlockedLogin().itemIDs.count == 2)
            await past.close()
            #expect(!folder.names.contains { $0.hasPrefix("restore-") && !$0.isEmpty })
        }
        let again = try await Vault.opened(Fixture.configuration(folder))
        #expect(try await again.unlockedLogin().itemIDs.count == 2)
        await again.close()
    }

    @Test func stage_fileChangedLater_keepsItsContents() async throws {
        try await withVault { vault, login in
            let staged = try await vault.stage(open(backup))
            try Data("nonsense".utf8).write(to: URL(fileURLWithPath: backup))
            let restored = try await vault.restore(staged, as: .login, inPlaceOf: login)
            try await restored.unlock(with: Fixture.bytes(Fixture.password))
        }
    }

    @Test func verify_acceptsThePasswordOnly() async throws {
        try await withVault { vault, _ in
            let staged = try await vault.stage(open(backup))
            try await vault.verify(Fixture.bytes(Fixture.password), opens: staged)
            await #expect(throws: VaultError(.wrongPassword, reason: "")) {
                try await vault.verify(Fixture.bytes("wrong"), opens: staged)
            }
        }
    }

    @Test func stage_foreignFile_isRefused_andLeavesNothing() async throws {
        try await withVault { vault, _ in
            mkfifo(home.file("pipe"), 0o600)
            try home.write(Array("no keychain".utf8), to: "text")
            try home.write([], to: "empty")
            try home.write(Array(try Data(contentsOf: URL(fileURLWithPath: backup)).prefix(5000)), to: "cut")
            for name in ["pipe", "text", "empty", "cut", "."] {
                await #expect(throws: VaultError.self, "\(name)") { _ = try await vault.stage(open(home.file(name))) }
            }
            truncate(home.file("empty"), off_t(VaultLimits().copyBytes) + 1)
            await #expect(throws: VaultError(.limitExceeded, reason: "")) {
                _ = try await vault.stage(open(home.file("empty")))
            }
            #expect(!folder.names.contains { $0.hasPrefix("restore-") })
        }
    }

    @Test func restore_ofAnUnreadableKeychain_keepsItsFile() async throws {
        try await withVault { _, _ in }
        try folder.write(Array("damaged".utf8), to: "login.keychain")
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = vault.collection(named: .login)
        let staged = try await vault.stage(open(backup))
        let restored = try await vault.restore(staged, as: .login, inPlaceOf: login)
        try await restored.unlock(with: Fixture.bytes(Fixture.password))
        let kept = folder.names.filter { $0.hasPrefix("login.keychain.unreadable-") }
        #expect(kept.count == 1)
        #expect(try folder.bytes(of: kept[0]) == Array("damaged".utf8))
        await vault.close()
    }

    @Test func restore_freshAccount_createsLogin() async throws {
        try await withVault { _, _ in }
        let other = TemporaryFolder()
        let vault = try await Vault.opened(Fixture.configuration(other))
        let staged = try await vault.stage(open(backup))
        #expect(vault.name(of: staged, fileName: "login.20240101.keychain") == .login)
        #expect(vault.name(of: staged, fileName: "../x.keychain")?.encoded == "Login")
        #expect(vault.name(of: staged, fileName: "session.keychain") == nil)
        let restored = try await vault.restore(staged, as: .login, inPlaceOf: vault.collection(named: .login))
        try await restored.unlock(with: Fixture.bytes(Fixture.password))
        #expect(restored.itemIDs.count == 1)
        #expect(vault.hasPasscode)
        await vault.close()
    }

    @Test func restore_overALockedKeychain_afterACrash_keepsItsFile() async throws {
        try await withVault { vault, _ in
            let crashed = try folder.snapshot()
            let other = try await Vault.opened(Fixture.configuration(crashed))
            let login = other.collection(named: .login)
            let staged = try await other.stage(open(backup))
            _ = try await other.restore(staged, as: .login, inPlaceOf: login)
            let past = TemporaryFolder()
            let former = try #require(crashed.names.first { name in name.contains("-past-") })
            try past.write(try crashed.bytes(of: former), to: "login.keychain")
            let before = try await Vault.opened(Fixture.configuration(past))
            #expect(try await before.unlockedLogin().itemIDs.count == 2)
            await before.close()
            await other.close()
            _ = vault
        }
    }
}
