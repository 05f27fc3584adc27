import Glibc
import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Replacements of a keychain that overlap with others and with locks: restores, salvages, and files that another
/// program has put in its place.
@VaultActor
@Suite struct ReplacementRaceTests {
    enum Replacement: CaseIterable, Sendable {
        case takeUp, restore, salvage
    }

    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    /// Opens a `login` with three items, of which the last is damaged, and returns its file as it was with the first.
    private func prepare() async throws -> (vault: Vault, login: Collection, older: [UInt8]) {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        try await login.add("first", ["n": "1"])
        await vault.close()
        let older = try folder.bytes(of: "login.keychain")
        vault = try await opened()
        login = try await vault.unlockedLogin()
        try await login.add("second", ["n": "2"])
        let damaged = try await login.add("third", ["n": "3"])
        await vault.close()
        try folder.tamper { image in image.zero(try image.last(LogImage.item, damaged.rawValue).metadata) }
        vault = try await opened()
        login = try await vault.unlockedLogin()
        try #require(login.canBeSalvaged)
        return (vault, login, older)
    }

    private func putInPlace(_ bytes: [UInt8]) throws {
        try folder.write(bytes, to: "synced")
        try #require(rename(folder.file("synced"), folder.file("login.keychain")) == 0)
    }

    private func run(
        _ replacement: Replacement,
        of login: Collection,
        by backup: StagedBackup?,
        in vault: Vault
    ) async {
        switch replacement {
        case .takeUp: _ = await vault.takeUp(login)
        case .restore: if let backup { _ = try? await vault.restore(backup, as: .login, inPlaceOf: login) }
        case .salvage: _ = try? await vault.salvage(login)
        }
    }

    @Test(arguments: [Replacement.takeUp, .salvage], 0..<8)
    func lockDuringAReplacement_staysInForce(_ replacement: Replacement, turns: Int) async throws {
        let (vault, login, _) = try await prepare()
        let task = Task { @VaultActor in await run(replacement, of: login, by: nil, in: vault) }
        for _ in 0..<turns { await Task.yield() }
        vault.collection(named: .login)?.lock()
        await task.value
        let new = try #require(vault.collection(named: .login))
        #expect(new.state == .locked)
        try await new.unlock(with: Fixture.bytes(Fixture.password))
        #expect(new.search(["n": "1"]).count == 1 && new.search(["n": "2"]).count == 1)
        await vault.close()
    }

    @Test(arguments: [Replacement.restore, .salvage], [false, true])
    func replacementBesideATakeUp_leavesOneWholeKeychain(_ replacement: Replacement, isFirst: Bool) async throws {
        let (vault, login, older) = try await prepare()
        try folder.write(older, to: "backup")
        let backup = try await vault.stage(OpenedFile(owning: open(folder.file("backup"), O_RDONLY | O_CLOEXEC)))
        try putInPlace(older)
        let order = isFirst ? [replacement, .takeUp] : [.takeUp, replacement]
        let tasks = order.map { replacement in
            Task { @VaultActor in await run(replacement, of: login, by: backup, in: vault) }
        }
        for task in tasks { await task.value }
        #expect(vault.collections.map(\.name) == [.login, .session])
        let new = try await vault.unlockedLogin()
        // A salvage keeps what memory has, and the older file has not.
        let count = isFirst && replacement == .salvage ? 2 : 1
        #expect(new !== login && new.itemCount == count && new.search(["n": "1"]).count == 1)
        try await new.add("next", ["n": "4"])
        let expected = new.itemIDs
        await vault.close()
        let reopened = try await opened()
        let again = try await reopened.unlockedLogin()
        #expect(again.itemIDs == expected && again.search(["n": "4"]).count == 1)
        await reopened.close()
    }

    @Test func salvage_anotherKeychainInItsPlace_isRefused_andThatIsServed() async throws {
        let other = TemporaryFolder()
        let stranger = try await Vault.opened(Fixture.configuration(other))
        try await stranger.unlockedLogin("of another").add("theirs")
        await stranger.close()
        let (vault, login, _) = try await prepare()
        try putInPlace(other.bytes(of: "login.keychain"))
        await #expect(throws: VaultError.of(.displaced)) { _ = try await vault.salvage(login) }
        #expect(!folder.names.contains { name in name.contains("unreadable") })
        #expect(try await vault.unlockedLogin("of another").itemCount == 1)
        await vault.close()
    }
}
