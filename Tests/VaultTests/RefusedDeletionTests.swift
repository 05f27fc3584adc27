import Foundation
import Glibc
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Deletions of a `login` with items bound to the passcode: a refused one removes nothing, an interrupted one all.
@VaultActor
@Suite struct RefusedDeletionTests {
    private static let file = "login.keychain"
    private static let leftover = "login.keychain-deleted-all"

    private let folder = TemporaryFolder()
    private let clock = TestClock()
    private let bound: Attributes = ["service": "bank", "keychain:accessible": "whenPasscodeSetThisDeviceOnly"]

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder, clock: clock, generations: 3))
    }

    /// Stores items bound to the passcode, in `login`, which has a former file, and in `session`.
    private func prepare(_ vault: Vault) async throws -> (login: Collection, session: Collection) {
        let login = try await vault.unlockedLogin()
        try await login.add("x", bound)
        for number in 1...2 { try await login.add("x", ["n": "\(number)"]) }
        try folder.write(folder.bytes(of: Self.file), to: Self.file + "-past-1700000000")
        let session = try #require(vault.collection(named: .session))
        try await session.add("y", bound)
        try #require(past.count == 1 && vault.itemsBoundToPasscode.count == 2)
        return (login, session)
    }

    private var past: [String] { folder.names.filter { name in name.contains("-past-") } }

    @Test func replacedFile_nothingIsRemoved() async throws {
        let vault = try await opened()
        let (login, session) = try await prepare(vault)
        let before = past
        _ = try await vault.createCollection(label: "Work", password: Fixture.bytes("work"))
        let other = try folder.bytes(of: "Work.keychain")
        folder.remove(Self.file)
        try folder.write(other, to: Self.file)
        await #expect(throws: VaultError.of(.displaced)) { try await vault.delete(login) }
        #expect(past == before && session.itemCount == 1)
        #expect(try folder.bytes(of: Self.file) == other)
        await vault.close()
    }

    @Test func failedRename_nothingIsRemoved() async throws {
        let vault = try await opened()
        let (login, session) = try await prepare(vault)
        let before = past
        let obstacles = ["login.keychain-deleted", Self.leftover]
        for obstacle in obstacles { try folder.makeFolder(obstacle) }
        await #expect(throws: VaultError.of(.storageFailed)) { try await vault.delete(login) }
        #expect(past == before && session.itemCount == 1 && login.itemCount == 3)
        try await login.add("x", ["n": "3"])

        for obstacle in obstacles { folder.remove(obstacle) }
        try await vault.delete(login)
        #expect(past.isEmpty && session.itemCount == 0)
        #expect(!folder.names.contains { name in name.hasPrefix("login") })
        await vault.close()
    }

    @Test func crashAfterTheRename_theStartRemovesTheFormerFiles() async throws {
        let vault = try await opened()
        _ = try await prepare(vault)
        await vault.close()
        try #require(rename(folder.file(Self.file), folder.file(Self.leftover)) == 0)
        let again = try await opened()
        #expect(again.collection(named: .login)?.state == .vacant)
        #expect(past.isEmpty && !folder.names.contains(Self.leftover))
        await again.close()
    }

    @Test func formerFileThatCannotBeRemoved_goesAtTheNextStart_andThoseOfANewLoginStay() async throws {
        var vault = try await opened()
        let (login, session) = try await prepare(vault)
        // The first one by its time: none after it is removed.
        let obstacle = Self.file + "-past-1600000000"
        try folder.makeFolder(obstacle)
        let former = past
        try await vault.delete(login)
        #expect(past == former && session.itemCount == 0)
        try await vault.unlockedLogin("new").add("x", ["n": "1"])
        let own = Self.file + "-past-1800000000"
        try folder.write(folder.bytes(of: Self.file), to: own)
        await vault.close()
        folder.remove(obstacle)
        vault = try await opened()
        #expect(past == [own] && !folder.names.contains(Self.leftover))
        #expect(try await vault.unlockedLogin("new").itemCount == 1)
        await vault.close()
    }
}
