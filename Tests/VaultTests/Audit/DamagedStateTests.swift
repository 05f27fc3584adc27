import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Damage in the journal of `state.db`: what was recorded may be missing, and that must not weaken a protection.
@VaultActor
@Suite struct DamagedStateTests {
    private static let journal = "state.db-wal"

    /// A crash after a protection, an alias and failed attempts were recorded.
    private struct Crash {
        let folder: TemporaryFolder
        let item: ItemID
        let used: Int

        func copy() throws -> TemporaryFolder { try folder.snapshot() }
    }

    private func crash() async throws -> Crash {
        let folder = TemporaryFolder()
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        let item = try await login.add("x", ["n": "0"], secret: "kept")
        try await vault.setAlias("mine", to: login)
        try await vault.setLockout([1, 2, 3], of: .people)
        try await login.updateItem(item, attributes: .protected("userPresence"))
        try await vault.setLockout([4, 5, 6], of: .people)
        let copy = try folder.snapshot()
        await vault.close()
        let bytes = try copy.bytes(of: Self.journal)
        return Crash(folder: copy, item: item, used: (bytes.lastIndex { $0 != 0 } ?? 0) + 1)
    }

    @Test func damagedBlock_anywhere_isTold_andFailedAttemptsCountAtTheirWorst() async throws {
        let crash = try await crash()
        let whole = try crash.folder.bytes(of: Self.journal)
        for block in stride(from: 0, to: crash.used, by: 512) {
            let folder = try crash.copy()
            var damaged = whole
            for place in block..<min(block + 512, crash.used) { damaged[place] ^= 0x5a }
            try folder.write(damaged, to: Self.journal)
            let file = try folder.bytes(of: "state.db")
            for round in 0..<2 {
                let vault = try await Vault.opened(Fixture.configuration(folder))
                let login = try await vault.unlockedLogin()
                if round == 0 {
                    #expect(login.problem?.contains("state.db was damaged") == true, "block \(block)")
                    #expect(vault.lockout(of: .people) == .unreadable, "block \(block)")
                    #expect(try folder.bytes(of: "state.db.unreadable-wal") == damaged, "block \(block)")
                    #expect(try folder.bytes(of: "state.db.unreadable") == file, "block \(block)")
                } else {
                    #expect(login.problem == nil, "block \(block)")
                    // A record that was there does not become weaker with the next start.
                    #expect([.none, .unreadable, .record([])].contains(vault.lockout(of: .people)), "block \(block)")
                }
                #expect(login.protection(of: crash.item).needsAuthentication, "block \(block)")
                try await vault.setAlias("later", to: login)
                await vault.close()
            }
            #expect(folder.names.filter { name in name.hasPrefix("state.db.unreadable") }.count == 2)
            #expect(!folder.names.contains { name in name.hasPrefix("state.db.damaged") })
        }
    }

    /// The row goes back to the time before the protection, which only the lost ledger knew.
    @Test func lostLedger_andAnOlderRow_leaveItemsInDoubt() async throws {
        let folder = TemporaryFolder()
        var vault = try await Vault.opened(Fixture.configuration(folder))
        let item = try await vault.unlockedLogin().add("bank")
        await vault.close()
        let old = try folder.snapshot()
        vault = try await Vault.opened(Fixture.configuration(folder))
        try await vault.unlockedLogin().updateItem(item, attributes: .protected("userPresence"))
        let crashed = try folder.snapshot()
        await vault.close()
        let row = try RawDatabase(old.file("login.keychain")).text(
            "SELECT revision || ', tags = x''' || hex(tags) || ''', metadata = x''' || hex(metadata) || ''', "
                + "secret = x''' || hex(secret) || '''' FROM item WHERE id = \(item)"
        )
        try RawDatabase(crashed.file("login.keychain")).execute("UPDATE item SET revision = \(row) WHERE id = \(item)")
        var damaged = try crashed.bytes(of: Self.journal)
        damaged[100] ^= 1
        try crashed.write(damaged, to: Self.journal)
        for _ in 0..<2 {
            vault = try await Vault.opened(Fixture.configuration(crashed))
            let login = try await vault.unlockedLogin()
            #expect(login.protection(of: item).needsAuthentication)
            await vault.close()
        }
    }

    @Test func interruptedRecovery_isFinished() async throws {
        let crash = try await crash()
        let folder = try crash.copy()
        // As if it had ended after the copy, and SQLite had gone back already.
        try folder.write(try folder.bytes(of: "state.db"), to: "state.db.damaged")
        try folder.write(try folder.bytes(of: Self.journal), to: "state.db.damaged-wal")
        let vault = try await Vault.opened(Fixture.configuration(folder))
        #expect(try await vault.unlockedLogin().problem?.contains("state.db was damaged") == true)
        #expect(vault.lockout(of: .people) == .unreadable)
        await vault.close()
        #expect(folder.names.contains("state.db.unreadable") && !folder.names.contains("state.db.damaged"))
    }

    @Test func soundJournal_isNotTold() async throws {
        let crash = try await crash()
        let vault = try await Vault.opened(Fixture.configuration(crash.folder))
        #expect(try await vault.unlockedLogin().problem == nil)
        #expect(vault.lockout(of: .people) == .record([4, 5, 6]))
        #expect(vault.aliases["mine"] == .login)
        await vault.close()
    }
}
