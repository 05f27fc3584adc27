import Glibc
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Reads that fail: what cannot be read is taken for neither empty nor damaged.
extension FailingDiskTests {
    /// Zero is a read that returns zeros.
    private nonisolated static let errors = [EIO, ENOMEM, EACCES, 0]

    private func failure(
        _ file: String,
        after count: Int,
        times: Int? = nil,
        _ error: CInt = EIO
    ) -> FailingDisk.Failure {
        FailingDisk.Failure(operation: .read, file: file, after: count, times: times, error: error)
    }

    @Test(arguments: [EIO, 0], [false, true])
    func readThatFailsOnce_atAStartOrUnlock_losesNothing(error: CInt, isAtStart: Bool) async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        for number in 1...40 {
            try await login.add("\(number)", ["n": "\(number)", "big": String(repeating: "b", count: 9_000)])
        }
        await vault.close()
        for count in 0..<100 {
            if isAtStart { disk.failure = failure("login.keychain", after: count, times: 1, error) }
            vault = try await opened()
            if !isAtStart { disk.failure = failure("login.keychain", after: count, times: 1, error) }
            login = try await vault.unlockedLogin()
            let allWereRead = disk.failure != nil
            disk.failure = nil
            #expect(login.problem == nil, "read \(count)")
            #expect(login.itemCount == 40)
            for id in login.itemIDs { #expect(login.search(["n": "\(id)"]) == [id]) }
            await vault.close()
            if allWereRead {
                #expect(count > 1)
                return
            }
        }
        Issue.record("every read fails")
    }

    @Test(arguments: [EIO, ENOMEM, EACCES])
    func stateNotRead_isLeftAsItIs_andTakenUpWhenTheDiskWorks(error: CInt) async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        try await vault.setAlias("mine", to: vault.collection(named: .login))
        try await vault.setLockout([1], of: .people)
        vault.audit(AuditEntry(time: .now(), kind: .release, outcome: "before"), in: .attended)
        await vault.close()
        let before = try folder.bytes(of: "state")
        var failures = 0
        for reads in 0..<200 {
            disk.failure = failure("state", after: reads, error)
            vault = try await opened()
            let wasRead = vault.lockout(of: .people) == .record([1])
            if !wasRead {
                failures += 1
                #expect(vault.lockout(of: .people) == .unreadable)
                #expect(vault.awaitsDisk)
                #expect(vault.collection(named: .login)?.problem?.contains("state") == true)
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
            #expect(!folder.names.contains { $0.hasPrefix("state.") }, "read \(reads)")
            if wasRead { break }
            try folder.write(before, to: "state")
        }
        #expect(failures > 1)
    }

    @Test func stateThatReadsAsZerosOnce_isNotDamaged() async throws {
        var vault = try await opened()
        try await vault.setAlias("mine", to: vault.collection(named: .login))
        await vault.close()
        for reads in 0..<100 {
            disk.failure = failure("state", after: reads, times: 1, 0)
            vault = try await opened()
            let allWereRead = disk.failure != nil
            disk.failure = nil
            #expect(vault.aliases == ["mine": .login], "read \(reads)")
            await vault.close()
            #expect(!folder.names.contains { $0.contains(".unreadable") }, "read \(reads)")
            if allWereRead { return }
        }
        Issue.record("every read fails")
    }

    @Test(arguments: [EIO, ENOMEM, EACCES])
    func collectionNotRead_isTakenUpWhenTheDiskWorks(error: CInt) async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add("kept", ["n": "1"], secret: "kept")
        await vault.close()
        for reads in 0..<200 {
            disk.failure = failure("login.keychain", after: reads, error)
            vault = try await opened()
            let old = try #require(vault.collection(named: .login))
            guard vault.awaitsDisk else {
                #expect(reads > 0)
                // At the unlock, all is read again.
                disk.failure = failure("login.keychain", after: 0, error)
                await #expect(throws: VaultError.self) { try await old.unlock(with: Fixture.bytes(Fixture.password)) }
                disk.failure = nil
                try await old.unlock(with: Fixture.bytes(Fixture.password))
                try await old.add("next")
                #expect(old.problem == nil)
                await vault.close()
                return
            }
            #expect(old.problem?.contains("tried again") == true)
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

    @Test(arguments: errors)
    func checkDuringAFailureOfTheDisk_tellsOfNoDamage(error: CInt) async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add("kept", ["n": "1"], secret: "kept")
        for count in 0..<10 {
            disk.failure = failure("login.keychain", after: count, times: 1, error)
            #expect(try await vault.check("keychain:login", nil).isSound, "read \(count)")
            disk.failure = nil
            #expect(login.problem == nil, "read \(count)")
        }
        if error != 0 {
            disk.failure = failure("login.keychain", after: 0, error)
            await #expect(throws: VaultError.self) { _ = try await vault.check("keychain:login", nil) }
            disk.failure = nil
            #expect(login.problem == nil && !login.canBeSalvaged)
        }
        try await login.add("next", ["n": "2"])
        await vault.close()
    }

    @Test func fileThatCannotBeOpenedToWrite_isOnlyRead_untilItCan() async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add("kept", secret: "kept")
        await vault.close()
        disk.failure = FailingDisk.Failure(operation: .open, file: "login.keychain", error: EACCES)
        vault = try await opened()
        let login = try await vault.unlockedLogin()
        #expect(try await login.content(of: id) == Array("kept".utf8))
        await #expect(throws: VaultError.of(.readOnly)) { try await login.add("refused") }
        disk.failure = nil
        let new = try #require(await vault.readAgain().replacements.first)
        #expect(new.problem == nil)
        try await new.add("stored")
        await vault.close()
    }

    @Test func filesThatCanBeReadAgain_areToldOneByOne() async throws {
        let before = try await opened()
        _ = try await before.unlockedLogin()
        _ = try await before.createCollection(label: "Work", password: Fixture.bytes("pw"))
        await before.close()
        disk.failure = FailingDisk.Failure(operation: .read)
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
