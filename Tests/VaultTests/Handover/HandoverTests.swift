import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// The handover of keys to the next process.
@VaultActor
@Suite struct HandoverTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    /// Hands over the keys of a vault with a secret in `login`, and closes it.
    private func leave(_ vault: Vault) async throws -> [UInt8] {
        let keys = try vault.handOver()?.withUnsafeBytes { Array($0) }
        await vault.close()
        return try #require(keys)
    }

    @Test func takeOver_unlocksWithoutAPassword() async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add(secret: "kept")
        let keys = try await leave(vault)
        vault = try await opened()
        #expect(vault.collection(named: .login)?.state == .locked)
        #expect(try await vault.takeOver(SecureBytes(copying: keys)) == [.login])
        let login = try #require(vault.collection(named: .login))
        #expect(login.state == .unlocked)
        #expect(try await login.storedSecret(of: id).content == Array("kept".utf8))
        #expect(login.problem == nil)
    }

    @Test func takeOver_afterALockSinceTheKeysCame_unlocksNothing() async throws {
        var vault = try await opened()
        try await vault.unlockedLogin().add(secret: "kept")
        let keys = try await leave(vault)
        vault = try await opened()
        try vault.receive(SecureBytes(copying: keys))
        let login = try #require(vault.collection(named: .login))
        login.lock()
        #expect(await vault.takeOver().isEmpty)
        #expect(login.state == .locked)
        await vault.close()
    }

    @Test func handOver_beforeTheTakeOver_handsTheReceivedKeysOn() async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add(secret: "kept")
        var keys = try await leave(vault)
        for _ in 0..<2 {
            vault = try await opened()
            try vault.receive(SecureBytes(copying: keys))
            #expect(vault.collection(named: .login)?.state == .locked)
            keys = try await leave(vault)
        }
        vault = try await opened()
        #expect(try await vault.takeOver(SecureBytes(copying: keys)) == [.login])
        let login = try #require(vault.collection(named: .login))
        #expect(try await login.storedSecret(of: id).content == Array("kept".utf8))
        await vault.close()
    }

    @Test func handOver_beforeTheTakeOver_omitsWhatWasLockedSince() async throws {
        var vault = try await opened()
        try await vault.unlockedLogin().add(secret: "kept")
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("other"))
        var keys = try await leave(vault)
        vault = try await opened()
        try vault.receive(SecureBytes(copying: keys))
        try #require(vault.collection(named: .login)).lock()
        keys = try await leave(vault)
        vault = try await opened()
        #expect(try await vault.takeOver(SecureBytes(copying: keys)) == [work.name])
        await vault.close()
    }

    @Test func handOver_keysOfAReplacedCollection_areNotHandedOn() async throws {
        var vault = try await opened()
        try await vault.unlockedLogin().add(secret: "old")
        let keys = try vault.handOver()?.withUnsafeBytes { Array($0) }
        try await vault.delete(#require(vault.collection(named: .login)))
        try await vault.unlockedLogin().add(secret: "new")
        await vault.close()
        vault = try await opened()
        try vault.receive(SecureBytes(copying: #require(keys)))
        let handed = try vault.handOver()
        let isNothing = handed == nil
        #expect(isNothing)
        await vault.close()
    }

    @Test func takeOver_thenChanges_canBeReadWithThePassword() async throws {
        var vault = try await opened()
        let first = try await vault.unlockedLogin().add(secret: "before")
        let keys = try await leave(vault)
        vault = try await opened()
        _ = try await vault.takeOver(SecureBytes(copying: keys))
        let second = try await #require(vault.collection(named: .login)).add(secret: "after")
        await vault.close()
        vault = try await opened()
        let login = try await vault.unlockedLogin()
        #expect(try await login.storedSecret(of: first).content == Array("before".utf8))
        #expect(try await login.storedSecret(of: second).content == Array("after".utf8))
        #expect(login.problem == nil)
    }

    @Test func handOver_again_afterATakeOver_works() async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add(secret: "kept")
        for _ in 0..<3 {
            let keys = try await leave(vault)
            vault = try await opened()
            #expect(try await vault.takeOver(SecureBytes(copying: keys)) == [.login])
        }
        let login = try #require(vault.collection(named: .login))
        #expect(try await login.storedSecret(of: id).content == Array("kept".utf8))
    }

    @Test func handOver_omitsLockedCollections() async throws {
        var vault = try await opened()
        let login = try await vault.unlockedLogin()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("other"))
        login.lock()
        let keys = try await leave(vault)
        vault = try await opened()
        #expect(try await vault.takeOver(SecureBytes(copying: keys)) == [work.name])
        #expect(vault.collection(named: .login)?.state == .locked)
    }

    @Test func handOver_nothingUnlocked_isEmpty() async throws {
        let vault = try await opened()
        try await vault.unlockedLogin().lock()
        let keys = try vault.handOver()
        let isNothing = keys == nil
        #expect(isNothing)
    }

    @Test func handOver_doesNotContainThePasswordOrTheMasterKey() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add(secret: "a secret of an item")
        let keys = try await leave(vault)
        #expect(keys.count < 300)
        #expect(!keys.contains(Array(Fixture.password.utf8)) && !keys.contains(Array("a secret of an item".utf8)))
        #expect(login.contains(id))
    }

    @Test func takeOver_replacedCollection_staysLocked() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin().add(secret: "old")
        let keys = try vault.handOver()?.withUnsafeBytes { Array($0) }
        try await vault.delete(#require(vault.collection(named: .login)))
        _ = try await vault.unlockedLogin().add(secret: "new")
        await vault.close()
        vault = try await opened()
        #expect(try await vault.takeOver(SecureBytes(copying: #require(keys))) == [])
        #expect(vault.collection(named: .login)?.state == .locked)
    }

    @Test func takeOver_damaged_unlocksNothing() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin().add(secret: "kept")
        let keys = try await leave(vault)
        vault = try await opened()
        for index in keys.indices {
            var damaged = keys
            damaged[index] ^= 1
            #expect(try await vault.takeOver(SecureBytes(copying: damaged)) == [])
        }
        for count in [0, 1, 12, 44, keys.count - 1] {
            #expect(try await vault.takeOver(SecureBytes(copying: Array(keys.prefix(count)))) == [])
        }
        #expect(try await vault.takeOver(SecureBytes(copying: keys + [0])) == [])
        #expect(vault.collection(named: .login)?.state == .locked)
        #expect(try await vault.takeOver(SecureBytes(copying: keys)) == [.login])
    }
}
