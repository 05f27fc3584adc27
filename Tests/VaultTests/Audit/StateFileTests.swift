import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// The file `state.db`.
@VaultActor
@Suite struct StateFileTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    @Test func lockout_survivesACrash() async throws {
        var vault = try await opened()
        #expect(vault.lockout(of: .people) == .none)
        try await vault.setLockout([1, 2, 3], of: .people)
        #expect(vault.lockout(of: .people) == .record([1, 2, 3]))
        let copy = try folder.snapshot()
        let survivor = try await Vault.opened(Fixture.configuration(copy))
        #expect(survivor.lockout(of: .people) == .record([1, 2, 3]))
        await survivor.close()
        try await vault.setLockout([], of: .people)
        await vault.close()
        #expect(vault.lockout(of: .people) == .none)
        vault = try await opened()
        #expect(vault.lockout(of: .people) == .record([]))
        await vault.close()
        await #expect(throws: VaultError.of(.storageFailed)) { try await vault.setLockout([1], of: .people) }
    }

    @Test func lockout_tooLong_isRefused() async throws {
        let vault = try await opened()
        try await vault.setLockout([UInt8](repeating: 1, count: 4096), of: .people)
        await #expect(throws: VaultError.of(.limitExceeded)) {
            try await vault.setLockout([UInt8](repeating: 1, count: 4097), of: .people)
        }
        await vault.close()
    }

    @Test func lockout_damagedFile_isUnreadable() async throws {
        var vault = try await opened()
        try await vault.setLockout([1], of: .people)
        await vault.close()
        try folder.write(Array("no database at all, though long enough for one".utf8), to: "state.db")
        vault = try await opened()
        #expect(vault.lockout(of: .people) == .unreadable)
        #expect(folder.names.contains("state.db.unreadable"))
        try await vault.setLockout([2], of: .people)
        await vault.close()
        vault = try await opened()
        #expect(vault.lockout(of: .people) == .record([2]))
        await vault.close()
    }

    @Test func lockout_readOnlyFolder_isKeptInMemory() async throws {
        try folder.makeReadOnly()
        defer { folder.makeWritable() }
        let vault = try await opened()
        await #expect(throws: VaultError.of(.readOnly)) { try await vault.setLockout([7], of: .people) }
        #expect(vault.lockout(of: .people) == .record([7]))
        await vault.close()
    }

    @Test func lockouts_ofPeopleAndPrograms_areSeparate() async throws {
        var vault = try await opened()
        try await vault.setLockout([1], of: .programs)
        #expect(vault.lockout(of: .people) == .none)
        try await vault.setLockout([2], of: .people)
        await vault.close()
        vault = try await opened()
        #expect(vault.lockout(of: .programs) == .record([1]))
        #expect(vault.lockout(of: .people) == .record([2]))
        await vault.close()
    }

    @Test(arguments: ["PRAGMA user_version = 5", "PRAGMA user_version = 2", "DROP TABLE audit", "CREATE TABLE x (y)"])
    func foreignOrLaterFile_isNotWrittenTo(sql: String) async throws {
        var vault = try await opened()
        try await vault.setLockout([1], of: .people)
        await vault.close()
        try RawDatabase(folder.file("state.db")).execute(sql)
        let before = try folder.bytes(of: "state.db")
        vault = try await opened()
        #expect(vault.lockout(of: .people) == .unreadable)
        // It is recorded elsewhere, so that the next try is.
        if sql == "PRAGMA user_version = 5" { try await vault.setLockout([2], of: .people) }
        await vault.close()
        let kept = folder.names.contains("state.db.unreadable") ? "state.db.unreadable" : "state.db"
        #expect(try folder.bytes(of: kept) == before)
    }

    @Test func flippedBit_inAnyPage_vaultOpensAndStoresAgain() async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add()
        try await vault.setAlias("mine", to: vault.collection(named: .login))
        try await vault.setLockout([1, 2, 3], of: .people)
        for number in 0..<100 {
            vault.audit(AuditEntry(time: .now(), kind: .denial, outcome: "\(number)"), in: .attended)
        }
        await vault.close()
        let whole = try folder.bytes(of: "state.db")
        var wereSetAside = 0
        for page in stride(from: 0, to: whole.count, by: 4096) {
            for offset in [0, 3, 5] {
                var bytes = whole
                bytes[page + offset] ^= 0x40
                try folder.write(bytes, to: "state.db")
                vault = try await opened()
                let login = try await vault.unlockedLogin()
                #expect(try await login.content(of: id) == Array("secret".utf8), "byte \(page + offset)")
                if folder.names.contains("state.db.unreadable") {
                    wereSetAside += 1
                    #expect(vault.lockout(of: .people) == .unreadable)
                    #expect(try folder.bytes(of: "state.db.unreadable") == bytes)
                    folder.remove("state.db.unreadable")
                }
                // Later writes must be stored and the audit must not lose entries silently.
                try await vault.setAlias("other", to: login)
                vault.audit(AuditEntry(time: .now(), kind: .release, outcome: "afterwards"), in: .attended)
                await vault.close()
                vault = try await opened()
                #expect(vault.collection(forAlias: "other")?.name == .login, "byte \(page + offset)")
                _ = try await vault.unlockedLogin()
                #expect(try await vault.auditEntries().first?.outcome == "afterwards", "byte \(page + offset)")
                await vault.close()
            }
        }
        #expect(wereSetAside > whole.count / 4096)
    }

    @Test func auditDamaged_aliasesAreRecovered() async throws {
        var vault = try await opened()
        try await vault.setAlias("mine", to: vault.collection(named: .login))
        await vault.close()
        let path = folder.file("state.db")
        let root = try #require(Int(RawDatabase(path).text("SELECT rootpage FROM sqlite_schema WHERE name = 'audit'")))
        var bytes = try folder.bytes(of: "state.db")
        bytes[(root - 1) * 4096] ^= 0x40
        try folder.write(bytes, to: "state.db")
        for _ in 0..<2 {
            vault = try await opened()
            #expect(vault.aliases == ["mine": .login])
            await vault.close()
        }
        #expect(try folder.bytes(of: "state.db.unreadable") == bytes)
    }
}
