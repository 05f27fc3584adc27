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

    /// Stores items bound to the passcode, in `login` with two generations and in `session`.
    private func prepare(_ vault: Vault) async throws -> (login: Collection, session: Collection) {
        let login = try await vault.unlockedLogin()
        try await login.add("x", bound)
        for day in 1...2 {
            clock.advance(seconds: 90_000)
            try await login.add("x", ["n": "\(day)"])
        }
        let session = try #require(vault.collection(named: .session))
        try await session.add("y", bound)
        try #require(generations.count == 2 && vault.itemsBoundToPasscode.count == 2)
        return (login, session)
    }

    private var generations: [String] { folder.names(in: "generations") }

    @Test func replacedFile_nothingIsRemoved() async throws {
        let vault = try await opened()
        let (login, session) = try await prepare(vault)
        let before = generations
        _ = try await vault.createCollection(label: "Work", password: Fixture.bytes("work"))
        let other = try folder.bytes(of: "Work.keychain")
        folder.remove(Self.file)
        try folder.write(other, to: Self.file)
        await #expect(throws: VaultError.of(.displaced)) { try await vault.delete(login) }
        #expect(generations == before && session.itemCount == 1)
        #expect(try folder.bytes(of: Self.file) == other)
        await vault.close()
    }

    @Test func failedRename_nothingIsRemoved() async throws {
        let vault = try await opened()
        let (login, session) = try await prepare(vault)
        let before = generations
        let obstacles = ["login.keychain-deleted", Self.leftover]
        for obstacle in obstacles { try folder.makeFolder(obstacle) }
        await #expect(throws: VaultError.of(.storageFailed)) { try await vault.delete(login) }
        #expect(generations == before && session.itemCount == 1 && login.itemCount == 3)
        try await login.add("x", ["n": "3"])

        for obstacle in obstacles { folder.remove(obstacle) }
        try await vault.delete(login)
        #expect(generations.isEmpty && session.itemCount == 0)
        #expect(!folder.names.contains { name in name.hasPrefix("login") })
        await vault.close()
    }

    @Test func crashAfterTheRename_theStartRemovesTheGenerations() async throws {
        let vault = try await opened()
        _ = try await prepare(vault)
        await vault.close()
        try #require(rename(folder.file(Self.file), folder.file(Self.leftover)) == 0)
        let again = try await opened()
        #expect(again.collection(named: .login)?.state == .vacant)
        #expect(generations.isEmpty && !folder.names.contains(Self.leftover))
        await again.close()
    }

    @Test func generationThatCannotBeRemoved_goesAtTheNextStart_andThoseOfANewLoginStay() async throws {
        var vault = try await opened()
        let (login, session) = try await prepare(vault)
        // The first one by its name: none after it is removed.
        let obstacle = "generations/login.000001-20200101T000000Z.keychain"
        try folder.makeFolder(obstacle)
        let former = generations
        try await vault.delete(login)
        #expect(generations == former && session.itemCount == 0)
        let new = try await vault.unlockedLogin("new")
        try await new.add("x", ["n": "1"])
        clock.advance(seconds: 90_000)
        try await new.add("x", ["n": "2"])
        await vault.close()
        folder.remove(obstacle)
        let own = generations.filter { name in !former.contains(name) }
        try #require(own.count == 1)
        vault = try await opened()
        #expect(generations == own && !folder.names.contains(Self.leftover))
        #expect(try await vault.unlockedLogin("new").itemCount == 2)
        await vault.close()
    }
}
