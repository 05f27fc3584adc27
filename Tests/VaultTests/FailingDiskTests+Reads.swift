import CKeychaindSQLite
import Glibc
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Reads that fail: what cannot be read is taken for neither empty nor damaged.
extension FailingDiskTests {
    // SQLite calls the last one a corrupt file.
    nonisolated static let failedReads = [
        SQLITE_IOERR | 1 << 8, SQLITE_NOMEM, SQLITE_CANTOPEN, SQLITE_BUSY, SQLITE_PERM,
        SQLITE_IOERR | 33 << 8,
    ]

    @Test(arguments: failedReads.sample(oneIn: 3))
    func stateNotRead_isLeftAsItIs_andTakenUpWhenTheDiskWorks(status: CInt) async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        try await vault.setAlias("mine", to: vault.collection(named: .login))
        try await vault.setLockout([1], of: .people)
        vault.audit(AuditEntry(time: .now(), kind: .release, outcome: "before"), in: .attended)
        await vault.close()
        let path = FailingDisk.folderName + "/state.db"
        let before = try folder.bytes(of: path)
        var failures = 0
        for reads in 0..<200 {
            disk.failure = FailingDisk.Failure(
                operation: .read,
                database: "state.db",
                after: reads,
                status: status,
                systemError: status == SQLITE_IOERR | 33 << 8 ? EIO : 0
            )
            vault = try await opened()
            let wasRead = vault.lockout(of: .people) == .record([1])
            if !wasRead {
                failures += 1
                #expect(vault.lockout(of: .people) == .unreadable)
                #expect(vault.awaitsDisk)
                #expect(vault.collection(named: .login)?.problem?.contains("state.db") == true)
                // Meanwhile, nothing is lost, nor taken for empty.
                vault.audit(AuditEntry(time: .now(), kind: .denial, outcome: "meanwhile"), in: .attended)
                _ = try await vault.unlockedLogin()
                await #expect(throws: VaultError.self) { try await vault.setAlias("other", to: nil) }
                try await vault.setLockout([2], of: .programs)
                await #expect(throws: VaultError.self) { _ = try await vault.auditEntries() }
                #expect(await vault.readAgain().hasState == false)
            }
            disk.failure = nil
            if !wasRead {
                #expect(await vault.readAgain().hasState)
                #expect(!vault.awaitsDisk && vault.collection(named: .login)?.problem == nil)
                #expect(vault.lockout(of: .people) == .record([1]) && vault.lockout(of: .programs) == .record([2]))
                #expect(vault.aliases == ["mine": .login])
                #expect(try await vault.auditEntries().map(\.outcome) == ["meanwhile", "before"])
            }
            await vault.close()
            #expect(!folder.names(in: FailingDisk.folderName).contains { $0.hasPrefix("state.db.") }, "read \(reads)")
            if wasRead { break }
            try folder.write(before, to: path)
        }
        #expect(failures > 3)
    }

    @Test(arguments: ["login.keychain", "state.db"])
    func shortRead_once_isNoDamage(database: String) async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add("kept", ["n": "1"], secret: "kept")
        try await vault.setAlias("mine", to: vault.collection(named: .login))
        await vault.close()
        for reads in 0..<200 {
            disk.failure = FailingDisk.Failure(
                operation: .read,
                database: database,
                after: reads,
                times: 1,
                status: FailingDisk.shortRead
            )
            vault = try await opened()
            let login = try await vault.unlockedLogin()
            let allWereRead = disk.failure != nil
            disk.failure = nil
            #expect(login.problem == nil && vault.aliases == ["mine": .login], "read \(reads)")
            #expect(try await login.content(of: id) == Array("kept".utf8))
            try await login.add("next")
            await vault.close()
            let names = folder.names(in: FailingDisk.folderName)
            #expect(!names.contains { $0.contains(".unreadable") }, "read \(reads)")
            if allWereRead {
                #expect(reads > 3)
                return
            }
        }
        Issue.record("every read is short")
    }

    @Test(arguments: failedReads.sample(oneIn: 3))
    func collectionNotRead_isTakenUpWhenTheDiskWorks(status: CInt) async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add("kept", ["n": "1"], secret: "kept")
        await vault.close()
        for reads in 0..<200 {
            disk.failure = FailingDisk.Failure(
                operation: .read,
                database: "login.keychain",
                after: reads,
                status: status,
                systemError: status == SQLITE_IOERR | 33 << 8 ? EIO : 0
            )
            vault = try await opened()
            let old = try #require(vault.collection(named: .login))
            guard vault.awaitsDisk else {
                #expect(reads > 0)
                // At the unlock, all is read again.
                disk.failure = FailingDisk.Failure(
                    operation: .read,
                    database: "login.keychain",
                    status: status,
                    systemError: status == SQLITE_IOERR | 33 << 8 ? EIO : 0
                )
                _ = try? await old.unlock(with: Fixture.bytes(Fixture.password))
                disk.failure = nil
                let current = await vault.readAgain().replacements.first ?? old
                try await current.unlock(with: Fixture.bytes(Fixture.password))
                try await current.add("next")
                #expect(current.problem == nil)
                await vault.close()
                return
            }
            #expect(old.problem?.contains("tried again") == true)
            if old.state == .locked {
                // Other pages can be read past SQLite.
                try await old.unlock(with: Fixture.bytes(Fixture.password))
                #expect(try await old.content(of: id) == Array("kept".utf8))
                await #expect(throws: VaultError.of(.unreadable)) { try await old.add("new") }
            }
            #expect(await vault.readAgain().replacements.isEmpty)
            disk.failure = nil
            let new = try #require(await vault.readAgain().replacements.first)
            #expect(vault.collection(named: .login) === new && !vault.awaitsDisk)
            try await new.unlock(with: Fixture.bytes(Fixture.password))
            #expect(try await new.content(of: id) == Array("kept".utf8))
            #expect(new.problem == nil)
            await vault.close()
        }
        Issue.record("every read fails")
    }

    @Test func filesThatCanBeReadAgain_areToldOneByOne() async throws {
        let before = try await opened()
        _ = try await before.unlockedLogin()
        _ = try await before.createCollection(label: "Work", password: Fixture.bytes("pw"))
        await before.close()
        disk.failure = FailingDisk.Failure(operation: .read, status: SQLITE_IOERR | 1 << 8, systemError: EIO)
        let vault = try await opened()
        #expect(vault.collections.count { collection in collection.problem != nil } == 2)
        disk.failure = nil
        // The records do not wait for the collections.
        #expect(await vault.readStateAgain())
        var waiting = [vault.collections.count { collection in collection.problem != nil }]
        await vault.readCollectionsAgain { _ in
            waiting.append(vault.collections.count { collection in collection.problem != nil })
        }
        #expect(waiting == [2, 1, 0])
        await vault.close()
    }
}
