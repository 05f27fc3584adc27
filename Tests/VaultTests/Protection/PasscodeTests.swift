import Gcrypt
import KeychainModel
import Testing
import Vault

/// The passcode is the password of login, and leads to items of other collections.
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

    @Test func verifyPasscode_whileLocked_tellsRightFromWrong() async throws {
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

    @Test func otherCollection_madeWhileLoginIsOpen_opensWithEitherPassword() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        var work = try await vault.createCollection(label: "Work", password: Fixture.bytes("own"))
        let id = try await work.protect("devicePasscode")
        for _ in 0..<2 {
            #expect(vault.passcodeOpens(work))
            for password in [Fixture.password, "own"] {
                let key = try await work.key(of: id, in: vault, passcode: password)
                #expect(try await work.content(of: id, with: key) == Array("secret".utf8))
            }
            await #expect(throws: VaultError.of(.wrongPassword)) {
                _ = try await work.key(of: id, in: vault, passcode: "neither")
            }
            await vault.close()
            vault = try await opened()
            work = try #require(vault.collection(named: work.name))
            try await work.unlock(with: Fixture.bytes("own"))
            // Login stays locked: its password is enough.
        }
        await vault.close()
    }

    @Test func otherCollection_unlockedBeforeLogin_opensWithItsOwnPassword_andWithThePasscodeLater() async throws {
        let vault = try await opened()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("own"))
        let id = try await work.protect("devicePasscode")
        #expect(!vault.passcodeOpens(work))
        _ = try await vault.unlockedLogin()
        #expect(!vault.passcodeOpens(work))
        await #expect(throws: VaultError.of(.wrongPassword)) {
            _ = try await work.key(of: id, in: vault, passcode: Fixture.password)
        }
        // A passcode that does not lead there is no key, though it is right.
        let passcode = try await vault.verifyPasscode(Fixture.bytes(Fixture.password))
        await #expect(throws: VaultError.of(.wrongPassword)) { _ = try await work.itemKey(of: id, passcode: passcode) }
        _ = try await work.key(of: id, in: vault, passcode: "own")

        work.lock()
        try await work.unlock(with: Fixture.bytes("own"))
        #expect(vault.passcodeOpens(work))
        let key = try await work.key(of: id, in: vault, passcode: Fixture.password)
        #expect(try await work.content(of: id, with: key) == Array("secret".utf8))
        await vault.close()
    }

    @Test func loginMadeAnew_itsPasswordOpensAfterTheNextUnlock() async throws {
        let vault = try await opened()
        _ = try await vault.unlockedLogin("first")
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("own"))
        let id = try await work.protect("devicePasscode")
        try await vault.delete(#require(vault.collection(named: .login)))
        #expect(!vault.passcodeOpens(work))
        _ = try await work.key(of: id, in: vault, passcode: "own")
        _ = try await vault.unlockedLogin("second")
        await #expect(throws: VaultError.of(.wrongPassword)) {
            _ = try await work.key(of: id, in: vault, passcode: "second")
        }
        work.lock()
        try await work.unlock(with: Fixture.bytes("own"))
        for password in ["second", "own"] {
            let key = try await work.key(of: id, in: vault, passcode: password)
            #expect(try await work.content(of: id, with: key) == Array("secret".utf8))
        }
        await #expect(throws: VaultError.of(.wrongPassword)) {
            _ = try await work.key(of: id, in: vault, passcode: "first")
        }
        await vault.close()
    }

    @Test(arguments: ["parameters", "wrapped"])
    func passcodeSlotSpoiled_ownPasswordStillOpens(column: String) async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        var work = try await vault.createCollection(label: "Work", password: Fixture.bytes("own"))
        let id = try await work.protect("devicePasscode")
        await vault.close()
        try RawDatabase(folder.file("Work.keychain")).execute(
            "UPDATE slot SET \(column) = CAST(substr(\(column), 2) || x'00' AS BLOB) WHERE kind = 2"
        )
        vault = try await opened()
        work = try #require(vault.collection(named: work.name))
        try await work.unlock(with: Fixture.bytes("own"))
        #expect(!vault.passcodeOpens(work))
        let key = try await work.key(of: id, in: vault, passcode: "own")
        #expect(try await work.content(of: id, with: key) == Array("secret".utf8))
        // The next unlock beside login makes the slot anew.
        _ = try await vault.unlockedLogin()
        work.lock()
        try await work.unlock(with: Fixture.bytes("own"))
        _ = try await work.key(of: id, in: vault, passcode: Fixture.password)
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
        #expect(!vault.passcodeOpens(reopened))
        await vault.close()
    }
}
