import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// The passcode is the password of `login`, also for items of other collections.
@VaultActor
@Suite struct PasscodeTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    @Test func hasPasscode_followsLogin() async throws {
        var vault = try await opened()
        #expect(!vault.hasPasscode)
        await #expect(throws: VaultError.of(.passcodeNotSet)) {
            _ = try await vault.verifyPasscode(Fixture.bytes("x"))
        }
        let login = try await vault.unlockedLogin()
        #expect(vault.hasPasscode)
        login.lock()
        #expect(vault.hasPasscode)
        await vault.close()
        #expect(!vault.hasPasscode)
        vault = try await opened()
        #expect(vault.hasPasscode)
        try await vault.delete(#require(vault.collection(named: .login)))
        #expect(!vault.hasPasscode)
        await vault.close()
    }

    @Test func verifyPasscode_whileLocked_works() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        await vault.close()
        vault = try await opened()
        _ = try await vault.verifyPasscode(Fixture.bytes(Fixture.password))
        await #expect(throws: VaultError.of(.wrongPassword)) {
            _ = try await vault.verifyPasscode(Fixture.bytes("wrong"))
        }
        await #expect(throws: VaultError.of(.emptyPassword)) { _ = try await vault.verifyPasscode(Fixture.bytes("")) }
        let long = String(repeating: "x", count: VaultLimits().passwordBytes + 1)
        await #expect(throws: VaultError.of(.limitExceeded)) { _ = try await vault.verifyPasscode(Fixture.bytes(long)) }
        #expect(vault.collection(named: .login)?.state == .locked)
        await vault.close()
    }

    @Test func otherCollection_itemsOpenWithThePasscodeOnly() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        var work = try await vault.createCollection(label: "Work", password: Fixture.bytes("own"))
        let id = try await work.protect("devicePasscode")
        #expect(work.protection(of: id).needsAuthentication)
        for _ in 0..<2 {
            let key = try await work.key(of: id, in: vault, passcode: Fixture.password)
            #expect(try await work.content(of: id, with: key) == Array("secret".utf8))
            await #expect(throws: VaultError.of(.wrongPassword)) {
                _ = try await work.key(of: id, in: vault, passcode: "own")
            }
            await vault.close()
            vault = try await opened()
            work = try #require(vault.collection(named: work.name))
            try await work.unlock(with: Fixture.bytes("own"))
            // The password of `login` is enough; `login` stays locked.
        }
        await vault.close()
    }

    @Test func otherCollection_beforeLoginIsUnlocked_refusesPasscodeItems() async throws {
        let vault = try await opened()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("own"))
        await #expect(throws: VaultError.of(.passcodeNotSet)) { try await work.protect("devicePasscode") }
        let id = try await work.add("open", ["service": "bank"])
        await #expect(throws: VaultError.of(.passcodeNotSet)) {
            try await work.updateItem(id, attributes: .protected("devicePasscode"))
        }
        let login = try await vault.unlockedLogin()
        login.lock()
        try await work.updateItem(id, attributes: .protected("devicePasscode"))
        let key = try await work.key(of: id, in: vault, passcode: Fixture.password)
        #expect(try await work.content(of: id, with: key) == Array("secret".utf8))
        await vault.close()
    }

    /// A program creates a collection with a known password and sets `default` to it.
    @Test func collectionWithAKnownPassword_protectsItsItems() async throws {
        let vault = try await opened()
        _ = try await vault.unlockedLogin()
        let bait = try await vault.createCollection(label: "Bait", password: Fixture.bytes("known"))
        try await vault.setAlias(Vault.defaultAlias, to: bait)
        let id = try await bait.protect("devicePasscode")
        await vault.close()
        let stolen = try folder.snapshot()
        for name in ["login.keychain", "state"] { stolen.remove(name) }
        let other = try await Vault.opened(Fixture.configuration(stolen))
        _ = try await other.unlockedLogin("known")
        let copy = try #require(other.collection(named: bait.name))
        try await copy.unlock(with: Fixture.bytes("known"))
        let passcode = try await other.verifyPasscode(Fixture.bytes("known"))
        await #expect(throws: VaultError.of(.wrongPassword)) { _ = try await copy.itemKey(of: id, passcode: passcode) }
        #expect(throws: VaultError.of(.authenticationNeeded)) { _ = try copy.secret(of: id) }
        await other.close()
    }

    @Test(arguments: ["userPresence", "biometryAny", "biometryCurrentSet or devicePasscode"])
    func otherCollection_refusesItemsWithoutAnItemKey(accessControl: String) async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("own"))
        let error = await #expect(throws: VaultError.self) { try await work.protect(accessControl) }
        #expect(error?.code == .notSupported)
        #expect(error?.reason.contains("login") == true)
        let id = try await work.protect("devicePasscode")
        let key = try await work.key(of: id, in: vault, passcode: Fixture.password)
        await #expect(throws: VaultError.of(.notSupported)) {
            try await work.updateItem(id, attributes: .protected(accessControl), key: key)
        }
        #expect(work.needsItemKey(id))
        for collection in [login, try #require(vault.collection(named: .session))] {
            try await collection.protect(accessControl)
        }
        await vault.close()
    }

    @Test func newLogin_opensNoEarlierItems() async throws {
        let vault = try await opened()
        _ = try await vault.unlockedLogin("first")
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("own"))
        let id = try await work.protect("devicePasscode")
        let slots = work.keySlots.count
        try await vault.delete(#require(vault.collection(named: .login)))
        _ = try await vault.unlockedLogin("second")
        work.lock()
        try await work.unlock(with: Fixture.bytes("own"))
        #expect(work.keySlots.count == slots)
        let passcode = try await vault.verifyPasscode(Fixture.bytes("second"))
        await #expect(throws: VaultError.of(.wrongPassword)) { _ = try await work.itemKey(of: id, passcode: passcode) }
        await vault.close()
    }

    @Test func readOnlyFolder_unlockBesideLogin_works() async throws {
        var vault = try await opened()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("own"))
        _ = try await vault.unlockedLogin()
        await vault.close()
        try folder.makeReadOnly()
        defer { folder.makeWritable() }
        vault = try await opened()
        _ = try await vault.unlockedLogin()
        let reopened = try #require(vault.collection(named: work.name))
        try await reopened.unlock(with: Fixture.bytes("own"))
        #expect(reopened.state == .unlocked)
        await vault.close()
    }
}
