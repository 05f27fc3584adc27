import CKeychaindSQLite
import Glibc
import KeychaindModel
import KeychaindVault
import Testing

/// Looks at the file of `login` that fail. They say nothing of the file; it is neither missing nor another one.
extension FailingDiskTests {
    private var path: String { folder.file(FailingDisk.folderName + "/login.keychain") }

    /// Makes each look at a path fail until ``reveal(_:)``: it then leads to itself.
    private nonisolated static func hide(_ path: String) {
        rename(path, path + ".hidden")
        symlink(path, path)
    }

    private nonisolated static func reveal(_ path: String) throws {
        try #require(rename(path + ".hidden", path) == 0)
    }

    /// Hides files between the commit of a later change and the look after it.
    private nonisolated static func hidingAtCommit(_ paths: [String], after count: Int = 0) -> FailingDisk.Failure {
        FailingDisk.Failure(
            operation: .sync,
            database: "login.keychain",
            after: count,
            times: 1,
            status: SQLITE_OK,
            beforeSync: { for path in paths { hide(path) } }
        )
    }

    enum Change: CaseIterable {
        case newItem, newSecret, deletion, newPassword

        fileprivate var password: String { self == .newPassword ? "other" : Fixture.password }
    }

    private func make(_ change: Change, of id: ItemID, in login: Vault.Login) async throws {
        switch change {
        case .newItem: try await login.add("new", ["n": "2"])
        case .newSecret: try await login.updateItem(id, secret: Fixture.secret("changed"))
        case .deletion: try await login.deleteItem(id)
        case .newPassword:
            try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("other"))
        }
    }

    // Without a look at the journal, it is also unknown how the change has left that.
    @Test(arguments: Change.allCases, [["login.keychain"], ["login.keychain", "login.keychain-wal"]])
    func lookAfterACommit_thatFails_isUnknown_andSettledBeforeTheNextAnswer(
        change: Change,
        hidden: [String]
    ) async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add("kept", ["n": "1"], secret: "kept")
        let paths = hidden.map { name in folder.file(FailingDisk.folderName + "/" + name) }
        disk.failure = Self.hidingAtCommit(paths)
        let error = await #expect(throws: VaultError.self) { try await make(change, of: id, in: login) }
        #expect(error == .of(.storageFailed) && error?.reason.contains("unknown") == true)
        // Nobody else is told of a new password.
        #expect((error?.outcome != nil) == (change != .newPassword))
        #expect(disk.failure == nil && login.problem?.contains("unknown") == true)
        // The file has the change, and so memory has it.
        let ids = login.itemIDs
        #expect(ids.count == (change == .newItem ? 2 : change == .deletion ? 0 : 1))
        try await login.verify(Fixture.bytes(change.password))
        let refusal = await #expect(throws: VaultError.self) { try await login.add("refused", ["n": "3"]) }
        #expect(refusal == .of(.storageFailed) && refusal?.outcome == nil)
        #expect(login.itemIDs == ids)

        for path in paths { try Self.reveal(path) }
        let next = try await login.add("next", ["n": "4"])
        #expect(login.problem == nil && login.itemIDs == ids + [next])
        // As a kill would leave the folder.
        let killed = try folder.snapshot(of: FailingDisk.folderName)
        let again = try await Vault.opened(Fixture.configuration(killed))
        let found = try await again.unlockedLogin(change.password)
        #expect(found.problem == nil && found.itemIDs == ids + [next])
        if change != .deletion {
            let content = Array((change == .newSecret ? "changed" : "kept").utf8)
            #expect(try await login.content(of: id) == content)
            #expect(try await found.content(of: id) == content)
        }
        await again.close()
        await vault.close()
    }

    @Test func lookAfterChangesThatWereWrittenTogether_thatFails_storesNoneTwice() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add("kept")
        // The first change is written alone, and the others wait for it.
        disk.failure = Self.hidingAtCommit([path], after: 1)
        let tasks = (0..<8).map { number in
            Task { @VaultActor in
                do {
                    return [try await login.add("x", ["n": "\(number)"])]
                } catch let error as VaultError {
                    guard case .item(.created(let id))? = error.outcome else { return [ItemID]() }
                    return [id]
                }
            }
        }
        for (number, task) in tasks.enumerated() {
            let made = try await task.value
            #expect(login.search(["n": "\(number)"]) == made)
        }
        #expect(disk.failure == nil, "it has not happened")
        try Self.reveal(path)
        try await login.add("next")
        let expected = login.itemIDs
        await vault.close()
        let reopened = try await opened()
        #expect(try await reopened.unlockedLogin().itemIDs == expected)
        await reopened.close()
    }

    @Test func lookAtAClosedFile_thatFails_isNoReplacement() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add("kept", ["n": "1"])
        var isDisplaced = false
        vault.onDisplacement = { _ in isDisplaced = true }
        // A check reads the file beside its changes, so it is closed until the next one.
        #expect(try await vault.check("keychain:login", nil).isSound)
        Self.hide(path)
        await #expect(throws: VaultError.of(.storageFailed)) { try await login.add("refused", ["n": "2"]) }
        try Self.reveal(path)
        #expect(!isDisplaced)
        let next = try await login.add("next", ["n": "3"])
        #expect(login.problem == nil && login.itemIDs == [id, next])
        await vault.close()
    }
}
