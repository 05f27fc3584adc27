import Foundation
import Glibc
import KeychaindModel
import KeychaindVault
import Testing

/// An older state of a keychain in the place of its file, most often while no vault is open.
@VaultActor
@Suite struct OlderFileTests {
    private let folder = TemporaryFolder()

    /// Runs a session of a person, who unlocks `login`.
    private func withLogin(_ body: (Vault, Vault.Login) async throws -> Void) async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        try await body(vault, try await vault.unlockedLogin())
        await vault.close()
    }

    /// Stores two items in a session each, and returns the file as it was after the first.
    private func prepare() async throws -> [UInt8] {
        try await withLogin { _, login in try await login.add("first", ["n": "1"]) }
        let older = try folder.bytes(of: "login.keychain")
        try await withLogin { _, login in try await login.add("second", ["n": "2"]) }
        return older
    }

    private func putBack(_ file: [UInt8]) throws {
        try folder.write(file, to: "login.keychain")
    }

    @Test func olderFile_isAProblem_untilTheStartAfterAChange() async throws {
        let older = try await prepare()
        try await withLogin { _, login in #expect(login.replacement == nil && login.problem == nil) }
        try putBack(older)
        for _ in 0..<2 {
            try await withLogin { _, login in
                #expect(login.missingCount == 1)
                #expect(login.problem?.contains("the last change is missing") == true)
                #expect(login.itemIDs.count == 1)
            }
        }
        try await withLogin { _, login in
            try await login.add("third", ["n": "3"])
            #expect(login.missingCount == 1)
        }
        try await withLogin { _, login in
            #expect(login.replacement == nil && login.problem == nil && login.itemIDs.count == 2)
        }
    }

    @Test func newerFile_afterAnOlderOne_isNone() async throws {
        let older = try await prepare()
        let newer = try folder.bytes(of: "login.keychain")
        try putBack(older)
        try await withLogin { _, login in #expect(login.replacement != nil) }
        try putBack(newer)
        try await withLogin { _, login in #expect(login.replacement == nil && login.itemIDs.count == 2) }
    }

    @Test func removedFile_thatComesBackOlder_isTold() async throws {
        let older = try await prepare()
        try await withLogin { vault, login in
            folder.remove("login.keychain")
            let missing = try #require(await vault.takeUp(login))
            #expect(missing.isMissing)
            try putBack(older)
            #expect(vault.hasReturned(missing))
            let returned = try #require(await vault.takeUp(missing))
            try await returned.unlock(with: Fixture.bytes(Fixture.password))
            #expect(returned.missingCount == 1)
        }
    }

    @Test func restoredState_isNoOlderFile() async throws {
        let older = try await prepare()
        try await withLogin { vault, login in
            try folder.write(older, to: "backup")
            let descriptor = open(folder.file("backup"), O_RDONLY | O_CLOEXEC)
            let staged = try await vault.stage(OpenedFile(owning: descriptor))
            let restored = try await vault.restore(staged, as: .login, inPlaceOf: login)
            try await restored.unlock(with: Fixture.bytes(Fixture.password))
            #expect(restored.replacement == nil && restored.problem == nil && restored.itemIDs.count == 1)
        }
        try await withLogin { _, login in #expect(login.replacement == nil) }
    }

    @Test func fileOfADeletedKeychain_thatIsPutBack_isNoOlderFile() async throws {
        let older = try await prepare()
        try await withLogin { vault, login in try await vault.delete(login) }
        try putBack(older)
        try await withLogin { _, login in #expect(login.replacement == nil && login.itemIDs.count == 1) }
    }
}
