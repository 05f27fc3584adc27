import CKeychaindSQLite
import Glibc
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Failures when a file is opened for a change, or for the first time.
extension FailingDiskTests {
    @Test(arguments: [FailingDisk.Failure.Operation.read, .sync])
    func closedFileThatFails_losesNothing_andWorksAgain(operation: FailingDisk.Failure.Operation) async throws {
        var vault = try await opened()
        // More than stay open, so that some are closed.
        var items: [CollectionName: ItemID] = [:]
        for number in 0..<70 {
            let collection = try await vault.createCollection(label: "\(number)", password: Fixture.bytes("pw"))
            items[collection.name] = try await collection.add("kept", secret: "kept")
        }
        let open = folder.openKeychains
        let closed = try #require(
            vault.collections.first { items[$0.name] != nil && !open.contains($0.name.fileName) }
        )
        disk.failure = FailingDisk.Failure(
            operation: operation,
            database: closed.name.fileName,
            status: SQLITE_IOERR | (operation == .read ? 1 : 4) << 8,
            systemError: EIO
        )
        await #expect(throws: VaultError.self) { try await closed.add("refused") }
        await #expect(throws: VaultError.self) { try await closed.add("refused, too") }
        disk.failure = nil
        let next = try await closed.add("next")
        await vault.close()
        vault = try await opened()
        let again = try #require(vault.collection(named: closed.name))
        try await again.unlock(with: Fixture.bytes("pw"))
        let id = try #require(items[closed.name])
        #expect(again.itemIDs == [id, next] && again.problem == nil)
        #expect(try await again.content(of: id) == Array("kept".utf8))
        await vault.close()
    }

    @Test(arguments: failedReads + [FailingDisk.shortRead])
    func checkDuringAFailureOfTheDisk_tellsOfNoDamage(status: CInt) async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add("kept", ["n": "1"], secret: "kept")
        var failure = FailingDisk.Failure(
            operation: .read,
            database: "login.keychain",
            times: 1,
            status: status,
            systemError: status == SQLITE_IOERR | 33 << 8 ? EIO : 0
        )
        for count in 0..<20 {
            failure.after = count
            disk.failure = failure
            #expect(try await vault.check("keychain:login", nil).isSound, "read \(count)")
            disk.failure = nil
            #expect(login.problem == nil, "read \(count)")
        }
        if status != FailingDisk.shortRead {
            failure.after = 0
            failure.times = nil
            disk.failure = failure
            await #expect(throws: VaultError.self) { _ = try await vault.check("keychain:login", nil) }
            disk.failure = nil
            #expect(login.problem == nil && !login.canBeSalvaged)
        }
        try await login.add("next", ["n": "2"])
        await vault.close()
    }

    private nonisolated static let momentaryFailures: [(operation: FailingDisk.Failure.Operation, status: CInt)] =
        (failedReads + [FailingDisk.shortRead]).map { status in (.read, status) } + [(.open, SQLITE_OK)]

    @Test(arguments: momentaryFailures.sample(oneIn: 3), [1, 3])
    func closedFileThatFailsForAMoment_nextChangeWorks(
        failure: (operation: FailingDisk.Failure.Operation, status: CInt),
        times: Int
    ) async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let (operation, status) = failure
        for count in 0..<(operation == .open ? 5 : 30) {
            // A check reads the file beside its changes, so it is closed until the next one.
            #expect(try await vault.check("keychain:login", nil).isSound)
            disk.failure = FailingDisk.Failure(
                operation: operation,
                database: "login.keychain",
                after: count,
                times: times,
                status: status,
                systemError: status == SQLITE_IOERR | 33 << 8 ? EIO : 0
            )
            do {
                try await login.add("first", ["n": "\(count)"])
            } catch {
                #expect(login.search(["n": "\(count)"]).isEmpty)
            }
            disk.failure = nil
            try await login.add("next", ["next": "\(count)"])
            #expect(login.problem == nil, "after \(count)")
        }
        await vault.close()
    }

    @Test func newCollection_whoseFileIsNotReadOnce_isMadeOrNotThere() async throws {
        let vault = try await opened()
        var refusals = 0
        for reads in 0..<30 {
            disk.failure = FailingDisk.Failure(
                operation: .read,
                after: reads,
                times: 1,
                status: FailingDisk.shortRead
            )
            let new = try? await vault.createCollection(label: "new", password: Fixture.bytes("pw"))
            disk.failure = nil
            let listed = vault.collections.filter { collection in collection.label == "new" }
            if let new {
                #expect(listed.count == 1 && listed.first === new && new.problem == nil)
                try await vault.delete(new)
            } else {
                refusals += 1
                #expect(listed.isEmpty, "read \(reads): \(listed.first?.problem ?? "")")
            }
        }
        #expect(refusals > 0)
        await vault.close()
    }

    @Test func lookOfSQLite_thatFailsOnce_isNoReadOnlyFile() async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add("kept", ["n": "1"])
        await vault.close()
        // As a restore or a salvage leaves it: SQLite looks before it makes the journal.
        try RawDatabase(folder.file(FailingDisk.folderName + "/login.keychain"))
            .execute("PRAGMA journal_mode = DELETE")
        disk.failure = FailingDisk.Failure(
            operation: .look,
            database: "login.keychain",
            times: 1,
            status: SQLITE_OK
        )
        vault = try await opened()
        #expect(disk.failure == nil, "it has not happened")
        let login = try await vault.unlockedLogin()
        let next = try await login.add("next", ["n": "2"])
        #expect(login.problem == nil && login.itemIDs == [id, next])
        await vault.close()
    }
}
