import Glibc
import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

@VaultActor
@Suite struct StorageFailureTests {
    private let folder = TemporaryFolder()

    private func opened(fileSize: Int? = nil) async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder, fileSize: fileSize))
    }

    @Test func fullDisk_changeFails_memoryIsUnchanged_andLaterChangesWork() async throws {
        let vault = try await opened(fileSize: 300_000)
        let login = try await vault.unlockedLogin()
        let id = try await login.add("kept", ["a": "1"], secret: "kept")
        let before = login.item(id)
        let large = String(repeating: "x", count: 400_000)
        await #expect(throws: VaultError(.storageFull, reason: "")) { try await login.add("large", secret: large) }
        await #expect(throws: VaultError(.storageFull, reason: "")) {
            try await login.updateItem(id, label: "other", attributes: ["b": "2"], secret: Fixture.secret(large))
        }
        #expect(login.itemIDs == [id])
        #expect(login.item(id) == before)
        #expect(login.search(["b": "2"]).isEmpty)
        #expect(try await login.content(of: id) == Array("kept".utf8))
        // There is room for this one.
        let next = try await login.add("small", ["c": "3"])
        try await login.deleteItem(id)
        #expect(login.problem == nil)
        await vault.close()

        let reopened = try await opened()
        #expect(try await reopened.unlockedLogin().itemIDs == [next])
        #expect(reopened.collection(named: .login)?.problem == nil)
        await reopened.close()
    }

    // Mounting a small disk requires root; otherwise the test above must do.
    @Test(.enabled(if: geteuid() == 0))
    func fullFileSystem_changesFail_nothingIsLost_andLaterChangesWork() async throws {
        try folder.mountDisk(bytes: 1 << 20)
        defer { folder.unmount() }
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        var kept: [ItemID: Int] = [:]
        var failures = 0
        try folder.write([UInt8](repeating: 0, count: 300_000), to: "ballast")
        for number in 0..<600 {
            do {
                kept[try await login.add("x", ["n": "\(number)"], secret: String(repeating: "s", count: 1000))] = number
            } catch let error as VaultError {
                #expect(error.code == .storageFull)
                failures += 1
            }
        }
        #expect(failures > 0)
        #expect(!kept.isEmpty)
        #expect(login.itemIDs == kept.keys.sorted())
        // The file has room, the disk has not.
        await #expect(throws: VaultError(.storageFull, reason: "")) {
            try await login.add("x", secret: String(repeating: "s", count: 900_000))
        }
        _ = await vault.readAgain()
        #expect(login.problem?.contains("could not be stored") == true)
        folder.remove("ballast")
        kept[try await login.add("x", ["n": "after"])] = -1
        #expect(login.problem == nil)
        await vault.close()
        let reopened = try await opened()
        let again = try await reopened.unlockedLogin()
        #expect(again.itemIDs == kept.keys.sorted())
        #expect(again.problem == nil)
        for (id, number) in kept where number >= 0 { #expect(again.search(["n": "\(number)"]) == [id]) }
        await reopened.close()
    }

    @Test func oneLargeChange_inABatch_failsAlone() async throws {
        let vault = try await opened(fileSize: 300_000)
        let login = try await vault.unlockedLogin()
        let large = String(repeating: "x", count: 400_000)
        var small: [Task<ItemID, any Error>] = []
        for number in 0..<10 { small.append(Task { @VaultActor in try await login.add("s", ["n": "\(number)"]) }) }
        let failing = Task { @VaultActor in try await login.add("large", ["n": "large"], secret: large) }
        for number in 10..<20 { small.append(Task { @VaultActor in try await login.add("s", ["n": "\(number)"]) }) }
        for task in small { _ = try await task.value }
        await #expect(throws: VaultError(.storageFull, reason: "")) { _ = try await failing.value }
        #expect(login.itemCount == 20)
        #expect(login.search(["n": "large"]).isEmpty)
        await vault.close()
        let reopened = try await opened()
        #expect(try await reopened.unlockedLogin().itemCount == 20)
        await reopened.close()
    }

    @Test func createCollection_folderGone_leavesNothing() async throws {
        let vault = try await opened()
        // Writes of the start would make the folder anew.
        try await vault.setAlias("none", to: nil)
        folder.remove("")
        await #expect(throws: VaultError(.storageFailed, reason: "")) {
            _ = try await vault.createCollection(label: "x", password: Fixture.bytes("pw"))
        }
        #expect(vault.collections.map(\.name) == [.login, .session])
        await vault.close()
    }

    @Test func createLogin_folderGone_staysVacant() async throws {
        let vault = try await opened()
        try await vault.setAlias("none", to: nil)
        folder.remove("")
        let login = try #require(vault.collection(named: .login))
        await #expect(throws: VaultError(.storageFailed, reason: "")) {
            try await login.unlock(with: Fixture.bytes("pw"))
        }
        #expect(login.state == .vacant)
        await vault.close()
    }

    @Test func readOnlyFolder_isReadable_changesFail() async throws {
        let vault = try await opened()
        let id = try await vault.unlockedLogin().add("kept", ["a": "1"])
        try await vault.setAlias("mine", to: vault.collection(named: .login))
        await vault.close()
        try folder.makeReadOnly()
        defer { folder.makeWritable() }

        let reopened = try await opened()
        let login = try #require(reopened.collection(named: .login))
        #expect(login.search(["a": "1"]) == [id])
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(try await login.content(of: id) == Array("secret".utf8))
        #expect(reopened.collection(forAlias: "mine") === login)
        let readOnly = VaultError(.readOnly, reason: "")
        await #expect(throws: readOnly) { try await login.add() }
        await #expect(throws: readOnly) { try await login.updateItem(id, label: "x") }
        await #expect(throws: readOnly) { try await login.deleteItem(id) }
        await #expect(throws: readOnly) { try await login.setLabel("x") }
        await #expect(throws: readOnly) { try await reopened.setAlias("other", to: login) }
        await #expect(throws: readOnly) { try await reopened.delete(login) }
        await #expect(throws: readOnly) {
            _ = try await reopened.createCollection(label: "x", password: Fixture.bytes("pw"))
        }
        #expect(login.item(id)?.label == "kept")
        await reopened.close()
    }

    @Test func readOnlyFolder_thatBecomesWritable_takesChangesWithoutARestart() async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add("kept", ["a": "1"])
        await vault.close()
        try folder.makeReadOnly()
        vault = try await opened()
        let before = try await vault.unlockedLogin()
        #expect(before.problem?.contains("state is read-only; it is left as it is, and tried again") == true)
        #expect(await vault.readAgain().replacements.isEmpty && vault.awaitsDisk)
        folder.makeWritable()
        #expect(await vault.readAgain().hasState && !vault.awaitsDisk)
        let login = try #require(vault.collection(named: .login))
        #expect(login.state == .unlocked && login.contains(id) && login.problem == nil)
        try await login.add("new", ["a": "2"])
        try await vault.setAlias("mine", to: login)
        await vault.close()
    }

    @Test func emptyReadOnlyFolder_opens() async throws {
        try folder.makeReadOnly()
        defer { folder.makeWritable() }
        let vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        #expect(login.state == .vacant)
        await #expect(throws: VaultError(.readOnly, reason: "")) { try await login.unlock(with: Fixture.bytes("pw")) }
        #expect(login.state == .vacant)
        await vault.close()
    }

    @Test func open_pathIsAFile_fails() async throws {
        try folder.write([1], to: "file")
        var configuration = Fixture.configuration(folder)
        configuration.directory = folder.file("file")
        let vault = Vault(configuration)
        await #expect(throws: VaultError(.storageFailed, reason: "")) { try await vault.open() }
    }

    @Test func open_missingFolders_areCreated() async throws {
        var configuration = Fixture.configuration(folder)
        configuration.directory = folder.file("a/b/c")
        let vault = try await Vault.opened(configuration)
        #expect(folder.permissions(of: "a/b/c") == 0o700)
        await vault.close()
    }

    @Test func twoVaultsOnOneFolder_theSecondFailsUntilTheFirstCloses() async throws {
        let first = try await opened()
        let second = Vault(Fixture.configuration(folder))
        await #expect(throws: VaultError(.inUse, reason: "")) { try await second.open() }
        #expect(second.collections.isEmpty)
        await first.close()
        try await second.open()
        #expect(second.collections.count == 2)
        await second.close()
    }

    @Test func vaultReleasedWithoutClose_releasesTheFolder() async throws {
        do {
            let vault = try await opened()
            try await vault.unlockedLogin().add()
        }
        let second = Vault(Fixture.configuration(folder))
        // The threads of the first vault end when they notice.
        try await eventually("the end of the first vault") {
            do throws(VaultError) {
                try await second.open()
                return true
            } catch  where error.code == .inUse {
                return false
            }
        }
        #expect(try await second.unlockedLogin().itemCount == 1)
        await second.close()
    }

    @Test func closedVault_refusesEverything() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add()
        await vault.close()
        #expect(vault.collections.isEmpty)
        #expect(throws: VaultError(.locked, reason: "")) { _ = try login.secret(of: id) }
        await #expect(throws: VaultError(.locked, reason: "")) { try await login.add() }
        await #expect(throws: VaultError(.storageFailed, reason: "")) {
            try await login.unlock(with: Fixture.bytes("pw"))
        }
        await #expect(throws: VaultError(.storageFailed, reason: "")) { try await vault.setAlias("x", to: login) }
        await vault.close()
    }
}
