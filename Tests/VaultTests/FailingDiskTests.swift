import CKeychaindSQLite
import Glibc
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Reads, writes, syncs and looks that fail.
@VaultActor
struct FailingDiskTests {
    let folder: TemporaryFolder
    let disk: FailingDisk

    init() throws {
        folder = TemporaryFolder()
        disk = try FailingDisk(in: folder)
    }

    /// Opens the vault; no pause moves a journal into its file, which would meet a failure in place of the change.
    func opened() async throws -> Vault {
        var configuration = Fixture.configuration(folder, pauses: false)
        configuration.directory = folder.file(FailingDisk.folderName)
        return try await Vault.opened(configuration)
    }

    /// Makes a change fail; returns its error and that of the next change on a working disk.
    private func fail(_ failure: FailingDisk.Failure) async throws -> (first: VaultError?, next: VaultError?) {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add("kept", ["n": "1"], secret: "kept")
        disk.failure = failure
        let first = await #expect(throws: VaultError.self) { try await login.add("failed", ["n": "2"]) }
        disk.failure = nil
        #expect(login.itemIDs == [id])
        var next: VaultError?
        do {
            try await login.add("next", ["n": "3"])
        } catch let error as VaultError {
            next = error
        }
        let count = next == nil ? 2 : 1
        #expect(login.itemCount == count)
        await vault.close()
        let reopened = try await opened()
        let again = try await reopened.unlockedLogin()
        #expect(again.itemCount == count)
        #expect(try await again.content(of: id) == Array("kept".utf8))
        #expect(again.problem == nil)
        await reopened.close()
        return (first, next)
    }

    @Test(arguments: [EDQUOT, ENOSPC])
    func quotaExceeded_isAFullDisk_andLaterChangesWork(number: CInt) async throws {
        let result = try await fail(FailingDisk.Failure(status: SQLITE_IOERR | 3 << 8, systemError: number))
        #expect(result.first == .of(.storageFull))
        #expect(result.next == nil)
    }

    @Test(arguments: [SQLITE_NOMEM, SQLITE_IOERR | 12 << 8])
    func noMemory_laterChangesWork(status: CInt) async throws {
        let result = try await fail(FailingDisk.Failure(status: status))
        #expect(result.first == .of(.limitExceeded))
        #expect(result.next == nil)
    }

    private nonisolated static let brokenWrite = FailingDisk.Failure(status: SQLITE_IOERR | 3 << 8, systemError: EIO)
    private nonisolated static let brokenSync = FailingDisk.Failure(
        operation: .sync,
        database: "login.keychain",
        status: SQLITE_IOERR | 4 << 8,
        systemError: EIO
    )

    @Test func brokenDisk_thatWorksAgain_laterChangesWork() async throws {
        let result = try await fail(Self.brokenWrite)
        #expect(result.first == .of(.storageFailed))
        #expect(result.next == nil)
    }

    // The journal then holds all of the change; only its sync has failed.
    @Test func failedSync_theChangeIsNotInForce_afterACrash() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add("kept", ["n": "1"], secret: "kept")
        for attempt in 0..<3 {
            disk.failure = Self.brokenSync
            disk.failure?.times = 1
            let error = await #expect(throws: VaultError.self) {
                switch attempt {
                case 0: try await login.add("refused", ["n": "2"])
                case 1: try await login.deleteItem(id)
                default:
                    try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("other"))
                }
            }
            #expect(error == .of(.storageFailed) && error?.reason.contains("unknown") == false)
            // What a crash at this point would leave.
            let copy = try folder.snapshot(of: FailingDisk.folderName)
            let crashed = try await Vault.opened(Fixture.configuration(copy))
            #expect(try await crashed.unlockedLogin().itemIDs == [id])
            await crashed.close()
        }
        await vault.close()
    }

    @Test func failedSync_ofTheRepair_too_isUnknown_andSettledBeforeTheNextChange() async throws {
        let vault = try await opened()
        var told: [String?] = []
        vault.onProblem = { name in told.append(vault.collection(named: name)?.problem) }
        let login = try await vault.unlockedLogin()
        let id = try await login.add("kept", ["n": "1"], secret: "kept")
        disk.failure = Self.brokenSync
        let error = await #expect(throws: VaultError.self) { try await login.add("refused", ["n": "2"]) }
        #expect(error?.reason.contains("unknown") == true)
        await #expect(throws: VaultError.of(.storageFailed)) { try await login.add("refused", ["n": "3"]) }
        #expect(login.itemIDs == [id] && login.problem?.contains("could not be stored") == true)
        disk.failure = nil
        let next = try await login.add("next", ["n": "4"])
        #expect(login.problem == nil)
        #expect(told.first != nil && told.last == .some(nil))
        await vault.close()
        let reopened = try await opened()
        #expect(try await reopened.unlockedLogin().itemIDs == [id, next])
        await reopened.close()
    }

    // The header, tags and rows are read at the start or while the key is derived.
    @Test(arguments: [0, 1, 2, 5, 10, 20, 40, 80], [false, true])
    func readThatFailsOnce_beforeTheKeyIsThere_losesNothing(after count: Int, early: Bool) async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        for number in 1...40 {
            try await login.add("\(number)", ["n": "\(number)", "big": String(repeating: "b", count: 9_000)])
        }
        await vault.close()
        let failure = FailingDisk.Failure(
            operation: .read,
            database: "login.keychain",
            after: count,
            times: 1,
            status: SQLITE_IOERR | 1 << 8,
            systemError: EIO
        )
        var configuration = Fixture.configuration(folder, pauses: false)
        configuration.directory = folder.file(FailingDisk.folderName)
        vault = Vault(configuration)
        if early {
            let unlock = EarlyUnlock()
            try unlock.use(Fixture.bytes(Fixture.password))
            disk.failure = failure
            try await vault.open(for: unlock)
        } else {
            try await vault.open()
            disk.failure = failure
        }
        login = try await vault.unlockedLogin()
        disk.failure = nil
        #expect(login.problem == nil)
        #expect(login.itemCount == 40)
        for id in login.itemIDs { #expect(login.search(["n": "\(id)"]) == [id]) }
        try await login.add()
        await vault.close()
    }

    /// A disk that became read-only, as after an error of the file system.
    private nonisolated static let readOnlyDisk = FailingDisk.Failure(status: SQLITE_READONLY, systemError: EROFS)

    @Test(arguments: [brokenWrite, brokenSync, readOnlyDisk])
    func refusedChange_isAProblem_untilTheDiskWorks_withoutAnotherChange(failure: FailingDisk.Failure) async throws {
        let vault = try await opened()
        var told: [String?] = []
        vault.onProblem = { name in told.append(vault.collection(named: name)?.problem) }
        let login = try await vault.unlockedLogin()
        func changePassword() async throws {
            try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("other"))
        }
        disk.failure = failure
        let code: VaultError.Code = failure.status == SQLITE_READONLY ? .readOnly : .storageFailed
        await #expect(throws: VaultError.of(code)) { try await changePassword() }
        #expect(await vault.readAgain().replacements.isEmpty)
        #expect(vault.awaitsDisk && login.problem?.contains("could not be stored") == true)
        disk.failure = nil
        #expect(await vault.readAgain().replacements.isEmpty)
        #expect(!vault.awaitsDisk && login.problem == nil)
        #expect(told.count == 2 && told.last == .some(nil))
        // What was refused stays refused.
        let copy = try folder.snapshot(of: FailingDisk.folderName)
        let crashed = try await Vault.opened(Fixture.configuration(copy))
        _ = try await crashed.unlockedLogin()
        await crashed.close()
        try await changePassword()
        await vault.close()
    }

    @Test func changedPassword_endsTheProblemOfARefusedChange() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        disk.failure = Self.brokenWrite
        await #expect(throws: VaultError.of(.storageFailed)) { try await login.add("refused") }
        disk.failure = nil
        try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("other"))
        #expect(login.problem == nil)
        await vault.close()
    }

    @Test func auditNotWritten_twice_countsAllLostEntries() async throws {
        let vault = try await opened()
        _ = try await vault.unlockedLogin()
        disk.failure = FailingDisk.Failure(status: SQLITE_IOERR | 3 << 8, systemError: EIO)
        for count in [3, 2] {
            for _ in 0..<count { vault.audit(AuditEntry(time: .now(), kind: .denial), in: .attended) }
            _ = try await vault.auditEntries()
        }
        disk.failure = nil
        vault.audit(AuditEntry(time: .now(), kind: .release, outcome: "kept"), in: .attended)
        #expect(try await vault.auditEntries().map(\.outcome) == ["5 entries were lost", "kept"])
        await vault.close()
    }

    @Test(arguments: [FailingDisk.Failure.Operation.write, .sync])
    func restoredState_whoseRecordIsNotRemoved_isNoOlderFile(operation: FailingDisk.Failure.Operation) async throws {
        let path = FailingDisk.folderName + "/login.keychain"
        for name in ["first", "second"] {
            let vault = try await opened()
            try await vault.unlockedLogin().add(name, ["n": name])
            await vault.close()
            if name == "first" { try folder.write(folder.bytes(of: path), to: "past") }
        }
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let past = try await vault.stage(OpenedFile(owning: open(folder.file("past"), O_RDONLY | O_CLOEXEC)))
        disk.failure = FailingDisk.Failure(
            operation: operation,
            database: "state.db",
            times: 1,
            status: operation == .write ? SQLITE_IOERR | 3 << 8 : SQLITE_IOERR | 4 << 8,
            systemError: EIO
        )
        defer { disk.failure = nil }
        let restored = try await vault.restore(past, as: .login, inPlaceOf: login)
        #expect(disk.failure == nil, "it has not happened")
        try await restored.unlock(with: Fixture.bytes(Fixture.password))
        #expect(restored.replacement == nil && restored.itemIDs.count == 1)
        // As a kill would leave the folder.
        let killed = try folder.snapshot(of: FailingDisk.folderName)
        let again = try await Vault.opened(Fixture.configuration(killed))
        #expect(try await again.unlockedLogin().replacement == nil)
        await again.close()
        await vault.close()
    }

    // MARK: Reading

    // SQLite calls the last one a corrupt file.
    nonisolated static let failedReads = [
        SQLITE_IOERR | 1 << 8, SQLITE_NOMEM, SQLITE_CANTOPEN, SQLITE_BUSY, SQLITE_PERM,
        SQLITE_IOERR | 33 << 8,
    ]

    @Test(arguments: failedReads)
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
                await #expect(throws: VaultError.self) { try await vault.setLockout([2], of: .programs) }
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

    @Test(arguments: failedReads)
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
