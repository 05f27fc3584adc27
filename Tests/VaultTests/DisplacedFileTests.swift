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
        case renameOver, unlink, folderSwap
    }

    private let folder = TemporaryFolder()

    private func opened(pauses: Bool = true) async throws -> Vault {
        var configuration = Fixture.configuration(folder, pauses: pauses)
        configuration.directory = folder.file("vault")
        return try await Vault.opened(configuration)
    }

    /// Moves something else to the place of `login`; the present file stays as it is, elsewhere.
    private func displace(_ displacement: Displacement, by older: TemporaryFolder) throws {
        let files = FileManager.default
        let file = folder.file("vault/login.keychain")
        switch displacement {
        case .renameOver:
            try files.copyItem(atPath: older.file("login.keychain"), toPath: file + ".synced")
            try #require(rename(file + ".synced", file) == 0)
        case .unlink: try #require(unlink(file) == 0)
        case .folderSwap:
            try files.moveItem(atPath: folder.file("vault"), toPath: folder.file("away"))
            try files.copyItem(atPath: older.path, toPath: folder.file("vault"))
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
        // Who still has the old one finds a locked collection, not none.
        #expect(login.search(["n": "1"]) == [kept])
        await #expect(throws: VaultError.of(.locked)) { try await login.add("lost", ["n": "3"]) }
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

    /// What another program writes into the present files; each keeps its place.
    enum Overwriting: CaseIterable {
        case emptyFile, garbage, olderFile
    }

    private func overwrite(_ overwriting: Overwriting, by older: TemporaryFolder) throws {
        let file = folder.file("vault/login.keychain")
        switch overwriting {
        case .emptyFile: try #require(truncate(file, 0) == 0)
        case .garbage: try write([UInt8](repeating: 0xa5, count: 6000), to: file, at: 13_000)
        case .olderFile:
            try #require(truncate(file, 0) == 0)
            try write(older.bytes(of: "login.keychain"), to: file, at: 0)
        }
    }

    private func write(_ bytes: [UInt8], to path: String, at place: off_t) throws {
        let descriptor = Glibc.open(path, O_WRONLY)
        defer { close(descriptor) }
        try #require(pwrite(descriptor, bytes, bytes.count, place) == bytes.count)
    }

    @Test(arguments: Overwriting.allCases)
    func noChangeIsMixed_withWhatAnotherProgramHasWritten(_ overwriting: Overwriting) async throws {
        let secret = String(repeating: "s", count: 3700)
        var vault = try await opened()
        try await vault.unlockedLogin().add("old", ["n": "1"], secret: secret)
        await vault.close()
        let older = try folder.snapshot(of: "vault")
        vault = try await opened(pauses: false)
        let login = try await vault.unlockedLogin()
        for number in ["2", "3"] { try await login.add("later", ["n": number], secret: secret) }
        try overwrite(overwriting, by: older)

        await #expect(throws: VaultError.of(.displaced)) { try await login.add("lost", ["n": "5"]) }
        let new = try #require(await vault.takeUp(login))
        #expect(new.problem != nil)
        #expect(new.search(["n": "5"]).isEmpty)
        await vault.close()
    }

    @Test func unchangedFile_thatAnotherProgramHasTouched_takesChanges() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let kept = try await login.add("kept")
        try #require(utimensat(AT_FDCWD, folder.file("vault/login.keychain"), nil, 0) == 0)
        let next = try await login.add("next")
        await vault.close()
        let reopened = try await opened()
        #expect(try await reopened.unlockedLogin().itemIDs == [kept, next])
        await reopened.close()
    }

    @Test func stateThatAnotherProgramHasReplaced_isOpenedAgain() async throws {
        let vault = try await opened()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("pw"))
        let state = folder.file("vault/state")
        try Data(contentsOf: URL(fileURLWithPath: state)).write(to: URL(fileURLWithPath: state + ".synced"))
        try #require(rename(state + ".synced", state) == 0)
        try await vault.setAlias("other", to: work)
        await vault.close()
        let reopened = try await opened()
        #expect(reopened.collection(forAlias: "other")?.name == work.name)
        await reopened.close()
    }

    @Test func namedPipeInPlaceOfTheLock_isRefused() async throws {
        try FileManager.default.createDirectory(atPath: folder.file("vault"), withIntermediateDirectories: false)
        try #require(mkfifo(folder.file("vault/lock"), 0o600) == 0)
        await #expect(throws: VaultError.of(.storageFailed)) { _ = try await opened() }
    }

    @Test func replacedFile_isTakenUpOnce_byManyAtATime() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add("kept", ["n": "1"])
        let older = try folder.snapshot(of: "vault")
        try await login.add("later", ["n": "2"])
        try displace(.renameOver, by: older)
        await #expect(throws: VaultError.of(.displaced)) { try await login.add("lost") }
        let tasks = (0..<16).map { number in
            Task { @VaultActor in
                let isFirst = await vault.takeUp(login) != nil
                // Whoever waited finds what the first one has made, unlocked.
                try await vault.collection(named: .login)?.add("x", ["n": "next \(number)"])
                return isFirst
            }
        }
        var count = 0
        for task in tasks where try await task.value { count += 1 }
        #expect(count == 1)
        #expect(vault.collections.map(\.name) == [.login, .session])
        #expect(vault.collection(named: .login)?.search(["n": "1"]).count == 1)
        await vault.close()
        let reopened = try await opened()
        let again = try await reopened.unlockedLogin()
        for number in 0..<16 { #expect(again.search(["n": "next \(number)"]).count == 1) }
        await reopened.close()
    }

    @Test func deletionBetweenTwoTakeUps_leavesOneCollection() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add()
        let tasks: [Task<Void, Never>] = [
            Task { @VaultActor in _ = await vault.takeUp(login) },
            Task { @VaultActor in _ = try? await vault.delete(login) },
            Task { @VaultActor in _ = await vault.takeUp(login) },
        ]
        for task in tasks { await task.value }
        #expect(vault.collections.map(\.name) == [.login, .session])
        await vault.close()
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
