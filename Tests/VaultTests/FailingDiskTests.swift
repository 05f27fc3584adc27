import Glibc
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Writes and syncs that fail.
@VaultActor
struct FailingDiskTests {
    let folder = TemporaryFolder()
    let disk = FailingDisk()

    /// Opens the vault; no pause writes, which would meet a failure in place of the change.
    func opened() async throws -> Vault {
        var configuration = Fixture.configuration(folder, pauses: false)
        configuration.system = disk.system
        return try await Vault.opened(configuration)
    }

    nonisolated static let brokenWrite = FailingDisk.Failure(file: "login.keychain")
    nonisolated static let tornWrite = FailingDisk.Failure(file: "login.keychain", isTorn: true)
    nonisolated static let brokenSync = FailingDisk.Failure(operation: .sync, file: "login.keychain")

    /// A disk that became read-only, as after an error of the file system.
    nonisolated static let readOnlyDisk = FailingDisk.Failure(file: "login.keychain", error: EROFS)

    @Test(arguments: [(EDQUOT, VaultError.Code.storageFull), (ENOSPC, .storageFull), (EIO, .storageFailed)])
    func refusedChange_laterChangesWork(number: CInt, code: VaultError.Code) async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add("kept", ["n": "1"], secret: "kept")
        disk.failure = FailingDisk.Failure(file: "login.keychain", error: number)
        await #expect(throws: VaultError.of(code)) { try await login.add("failed", ["n": "2"]) }
        disk.failure = nil
        #expect(login.itemIDs == [id])
        let next = try await login.add("next", ["n": "3"])
        await vault.close()
        let reopened = try await opened()
        let again = try await reopened.unlockedLogin()
        #expect(again.itemIDs == [id, next] && again.problem == nil)
        #expect(try await again.content(of: id) == Array("kept".utf8))
        await reopened.close()
    }

    @Test(arguments: [brokenSync, tornWrite])
    func failedChange_isNotInForce_afterACrash(failure: FailingDisk.Failure) async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let ids = [try await login.add("kept", ["n": "1"]), try await login.add("kept", ["n": "2"])]
        for attempt in 0..<4 {
            disk.failure = failure
            disk.failure?.times = 1
            let error = await #expect(throws: VaultError.self) {
                switch attempt {
                case 0: try await login.add("refused", ["n": "3"])
                case 1: try await login.deleteItem(ids[0])
                case 2: try await login.deleteItems(ids.map { id in ItemDeletion(of: id) })
                default:
                    try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("other"))
                }
            }
            #expect(error == .of(.storageFailed) && error?.reason.contains("unknown") == false)
            // What a crash at this point would leave.
            let copy = try folder.snapshot()
            let crashed = try await Vault.opened(Fixture.configuration(copy))
            #expect(try await crashed.unlockedLogin().itemIDs == ids)
            #expect(crashed.collection(named: .login)?.problem == nil)
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
        let code: VaultError.Code = failure.error == EROFS ? .readOnly : .storageFailed
        await #expect(throws: VaultError.of(code)) { try await changePassword() }
        #expect(await vault.readAgain().replacements.isEmpty)
        #expect(vault.awaitsDisk && login.problem?.contains("could not be stored") == true)
        disk.failure = nil
        #expect(await vault.readAgain().replacements.isEmpty)
        #expect(!vault.awaitsDisk && login.problem == nil)
        #expect(told.count == 2 && told.last == .some(nil))
        // What was refused stays refused.
        let copy = try folder.snapshot()
        let crashed = try await Vault.opened(Fixture.configuration(copy))
        _ = try await crashed.unlockedLogin()
        await crashed.close()
        #expect(copy.names.contains("login.keychain"))
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

    // Other programs cannot be told from a disk that does not answer; the change is in the file that was open.
    @Test func statusThatFails_afterAChange_isNoOtherFile() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        var isDisplaced = false
        vault.onDisplacement = { _ in isDisplaced = true }
        let id = try await login.add("kept", ["n": "1"])
        for count in 0..<4 {
            disk.failure = FailingDisk.Failure(operation: .status, file: "login.keychain", after: count, times: 1)
            do {
                try await login.add("x", ["n": "x"])
            } catch let error as VaultError {
                #expect(error == .of(.storageFailed))
            }
            disk.failure = nil
        }
        let next = try await login.add("next", ["n": "2"])
        #expect(!isDisplaced && login.problem == nil)
        let expected = login.itemIDs
        #expect(expected.contains(id) && expected.contains(next))
        await vault.close()
        let reopened = try await opened()
        #expect(try await reopened.unlockedLogin().itemIDs == expected)
        await reopened.close()
    }

    @Test(arguments: [FailingDisk.Operation.write, .sync])
    func newCollection_whoseFileIsNotStored_isNotThere(operation: FailingDisk.Operation) async throws {
        let vault = try await opened()
        var refusals = 0
        for count in 0..<20 {
            disk.failure = FailingDisk.Failure(operation: operation, file: "new.keychain", after: count, times: 1)
            let new = try? await vault.createCollection(label: "new", password: Fixture.bytes("pw"))
            disk.failure = nil
            let listed = vault.collections.filter { collection in collection.label == "new" }
            if let new {
                #expect(listed.count == 1 && listed.first === new && new.problem == nil)
                try await vault.delete(new)
            } else {
                refusals += 1
                #expect(listed.isEmpty && !folder.names.contains("new.keychain"))
            }
        }
        #expect(refusals > 0)
        await vault.close()
    }

    @Test func fullDisk_aDeletionOfSeveral_saysThatFewerMayWork() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let ids = [try await login.add("1", ["n": "1"]), try await login.add("2", ["n": "2"])]
        disk.failure = FailingDisk.Failure(file: "login.keychain", error: ENOSPC)
        await #expect(throws: VaultError.of(.limitExceeded)) {
            try await login.deleteItems(ids.map { id in ItemDeletion(of: id) })
        }
        #expect(login.itemIDs == ids)
        disk.failure = nil
        for id in ids { try await login.deleteItem(id) }
        #expect(login.problem == nil)
        await vault.close()
    }

    @Test func auditNotWritten_isSaid_andWrittenLaterInOrder() async throws {
        let vault = try await opened()
        _ = try await vault.unlockedLogin()
        disk.failure = FailingDisk.Failure()
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

    @Test(arguments: [FailingDisk.Operation.write, .sync])
    func restoredState_whoseRecordIsNotRemoved_isNoOlderFile(operation: FailingDisk.Operation) async throws {
        for name in ["first", "second"] {
            let vault = try await opened()
            try await vault.unlockedLogin().add(name, ["n": name])
            await vault.close()
            if name == "first" { try folder.write(folder.bytes(of: "login.keychain"), to: "past") }
        }
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let past = try await vault.stage(OpenedFile(owning: open(folder.file("past"), O_RDONLY | O_CLOEXEC)))
        disk.failure = FailingDisk.Failure(operation: operation, file: "state", times: 1)
        defer { disk.failure = nil }
        let restored = try await vault.restore(past, as: .login, inPlaceOf: login)
        #expect(disk.failure == nil, "it has not happened")
        try await restored.unlock(with: Fixture.bytes(Fixture.password))
        #expect(restored.replacement == nil && restored.itemIDs.count == 1)
        // As a kill would leave the folder.
        let copy = try folder.snapshot()
        let again = try await Vault.opened(Fixture.configuration(copy))
        #expect(try await again.unlockedLogin().replacement == nil)
        await again.close()
        #expect(copy.names.contains("login.keychain"))
        await vault.close()
    }
}
