import CKeychaindSQLite
import Glibc
import KeychaindModel
import KeychaindVault
import Testing

/// Deletions of several items on a disk that fails in the middle.
extension FailingDiskTests {
    /// The items that a crash at this moment would leave.
    private func itemsAfterACrash() async throws -> [ItemID] {
        let copy = try folder.snapshot(of: FailingDisk.folderName)
        let crashed = try await Vault.opened(Fixture.configuration(copy))
        let ids = try await crashed.unlockedLogin().itemIDs
        await crashed.close()
        return ids
    }

    @Test func write_thatFails_inADeletionOfSeveral_deletesNone() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        var ids: [ItemID] = []
        for number in 0..<12 {
            // Larger than a page, so that the deletions write many.
            ids.append(try await login.add("x", ["n": "\(number)"], secret: String(repeating: "s", count: 10_000)))
        }
        let deletions = ids.map { id in ItemDeletion(of: id) }
        var failures = 0
        for count in stride(from: 0, to: 10_000, by: 9) {
            disk.failure = FailingDisk.Failure(
                database: "login.keychain",
                after: count,
                times: 1,
                status: SQLITE_IOERR | 3 << 8,
                systemError: EIO
            )
            var failure: VaultError?
            do throws(VaultError) {
                try await login.deleteItems(deletions)
            } catch {
                failure = error
            }
            guard let failure else { break }
            failures += 1
            #expect(failure == .of(.storageFailed))
            #expect(login.itemIDs == ids)
            #expect(try await itemsAfterACrash() == ids)
        }
        disk.failure = nil
        #expect(failures > 0)
        #expect(login.itemIDs.isEmpty)
        await vault.close()
        let reopened = try await opened()
        #expect(try await reopened.unlockedLogin().itemIDs.isEmpty)
        #expect(reopened.collection(named: .login)?.problem == nil)
        await reopened.close()
    }

    @Test func sync_thatFails_inADeletionOfSeveral_deletesNone() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let ids = [try await login.add("1", ["n": "1"]), try await login.add("2", ["n": "2"])]
        disk.failure = FailingDisk.Failure(
            operation: .sync,
            database: "login.keychain",
            times: 1,
            status: SQLITE_IOERR | 4 << 8,
            systemError: EIO
        )
        await #expect(throws: VaultError.of(.storageFailed)) {
            try await login.deleteItems(ids.map { id in ItemDeletion(of: id) })
        }
        #expect(login.itemIDs == ids)
        #expect(try await itemsAfterACrash() == ids)
        try await login.deleteItems(ids.map { id in ItemDeletion(of: id) })
        #expect(login.itemIDs.isEmpty)
        await vault.close()
    }

    @Test func fullDisk_aDeletionOfSeveral_saysThatFewerMayWork() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let ids = [try await login.add("1", ["n": "1"]), try await login.add("2", ["n": "2"])]
        disk.failure = FailingDisk.Failure(
            database: "login.keychain",
            status: SQLITE_IOERR | 3 << 8,
            systemError: ENOSPC
        )
        await #expect(throws: VaultError.of(.limitExceeded)) {
            try await login.deleteItems(ids.map { id in ItemDeletion(of: id) })
        }
        #expect(login.itemIDs == ids)
        disk.failure = nil
        for id in ids { try await login.deleteItem(id) }
        #expect(login.problem == nil)
        await vault.close()
    }
}
