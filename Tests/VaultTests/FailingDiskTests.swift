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

    // The header and the tags are read at the start, the rows at the unlock.
    @Test(arguments: [0, 1, 2, 5, 10, 20, 40, 80], [false, true])
    func readThatFailsOnce_atAStartOrUnlock_losesNothing(after count: Int, early: Bool) async throws {
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

    @Test func auditNotWritten_isSaid_andWrittenLaterInOrder() async throws {
        let vault = try await opened()
        _ = try await vault.unlockedLogin()
        disk.failure = FailingDisk.Failure(status: SQLITE_IOERR | 3 << 8, systemError: EIO)
        for number in 1...3 {
            vault.audit(AuditEntry(time: .now(), kind: .release, outcome: "\(number)"), in: .attended)
            await #expect(throws: VaultError.of(.storageFailed)) { try await vault.syncAudit() }
        }
        disk.failure = nil
        vault.audit(AuditEntry(time: .now(), kind: .release, outcome: "4"), in: .attended)
        try await vault.syncAudit()
        #expect(try await vault.auditEntries().map(\.outcome) == ["4", "3", "2", "1"])
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
}
