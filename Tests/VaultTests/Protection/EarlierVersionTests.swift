import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Files before format 4: items are sealed to the passcode keys of their own collections.
@VaultActor
@Suite struct EarlierVersionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(copying: "format-3")
    }

    private func opened() async throws -> (Vault, work: Collection) {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        return (vault, try await unlocked("Work", "own", in: vault))
    }

    private func unlocked(_ name: String, _ password: String, in vault: Vault) async throws -> Collection {
        let collection = try #require(CollectionName(encoded: name).flatMap(vault.collection(named:)))
        try await collection.unlock(with: Fixture.bytes(password))
        return collection
    }

    private func item(_ service: String, in collection: Collection) throws -> ItemID {
        try #require(collection.search(["service": service]).first)
    }

    @Test func itemsOfACollectionWithAPasscodeSlot_openWithEitherPassword() async throws {
        let (vault, work) = try await opened()
        let id = try item("passcode", in: work)
        let both = try item("both", in: work)
        for _ in 0..<2 {
            #expect(vault.passcodeOpens(id, in: work))
            for password in [Fixture.password, "own"] {
                let passcode = try await vault.verifyPasscode(Fixture.bytes(password), for: work)
                let key = try await work.itemKey(of: id, passcode: passcode)
                #expect(try await work.content(of: id, with: key) == Array("sealed in work".utf8))
                let sesame = try Fixture.bytes("sesame")
                let bothKey = try await work.itemKey(of: both, passcode: passcode, applicationPassword: sesame)
                #expect(try await work.content(of: both, with: bothKey) == Array("both in work".utf8))
            }
            _ = try await vault.unlockedLogin()
        }
        await vault.close()
    }

    @Test func itemsOfACollectionWithoutAPasscodeSlot_openWithItsPassword_andGetNoSlot() async throws {
        let (vault, _) = try await opened()
        let login = try await vault.unlockedLogin()
        let alone = try await unlocked("Alone", "alone", in: vault)
        let id = try item("bank", in: alone)
        #expect(!vault.passcodeOpens(id, in: alone))
        #expect(alone.keySlots.count == 1)
        let key = try await alone.key(of: id, in: vault, passcode: "alone")
        #expect(try await alone.content(of: id, with: key) == Array("in alone".utf8))
        let passcode = try await vault.verifyPasscode(Fixture.bytes(Fixture.password))
        await #expect(throws: VaultError.of(.wrongPassword)) { _ = try await alone.itemKey(of: id, passcode: passcode) }
        let sealed = try item("passcode", in: login)
        #expect(vault.passcodeOpens(sealed, in: login))
        let inLogin = try await login.key(of: sealed, in: vault, passcode: Fixture.password)
        #expect(try await login.content(of: sealed, with: inLogin) == Array("sealed in login".utf8))
        await vault.close()
    }

    @Test func newLogin_leavesSlotsUnchanged() async throws {
        let (vault, work) = try await opened()
        let id = try item("passcode", in: work)
        let slots = try folder.slots(of: "Work.keychain")
        try await vault.delete(#require(vault.collection(named: .login)))
        #expect(!vault.passcodeOpens(id, in: work))
        _ = try await vault.unlockedLogin("second")
        work.lock()
        try await work.unlock(with: Fixture.bytes("own"))
        #expect(!vault.passcodeOpens(id, in: work))
        #expect(try folder.slots(of: "Work.keychain") == slots)
        let passcode = try await vault.verifyPasscode(Fixture.bytes("second"))
        await #expect(throws: VaultError.of(.wrongPassword)) { _ = try await work.itemKey(of: id, passcode: passcode) }
        let key = try await work.key(of: id, in: vault, passcode: "own")
        #expect(try await work.content(of: id, with: key) == Array("sealed in work".utf8))
        await vault.close()
    }

    @Test(arguments: ["parameters", "wrapped"])
    func passcodeSlotDamaged_ownPasswordOpens(column: String) async throws {
        try RawDatabase(folder.file("Work.keychain")).execute(
            "UPDATE slot SET \(column) = CAST(substr(\(column), 2) || x'00' AS BLOB) WHERE kind = 2"
        )
        let (vault, work) = try await opened()
        _ = try await vault.unlockedLogin()
        let id = try item("passcode", in: work)
        #expect(!vault.passcodeOpens(id, in: work))
        let key = try await work.key(of: id, in: vault, passcode: "own")
        #expect(try await work.content(of: id, with: key) == Array("sealed in work".utf8))
        await vault.close()
    }

    @Test func itemWithoutAnItemKey_canBeReadChangedAndDeleted() async throws {
        let (vault, work) = try await opened()
        let id = try item("presence", in: work)
        #expect(try await work.content(of: id) == Array("presence in work".utf8))
        try await work.updateItem(id, label: "new", secret: Fixture.secret("new"), authenticated: true)
        let replaced = try await work.createItem(
            label: "newer",
            attributes: .protected("userPresence", "presence"),
            secret: Fixture.secret("newer"),
            replacing: true,
            authenticated: id
        )
        #expect(replaced == .replaced(id))
        await #expect(throws: VaultError.of(.notSupported)) {
            try await work.updateItem(id, attributes: .protected("biometryAny", "presence"), authenticated: true)
        }
        #expect(try await work.content(of: id) == Array("newer".utf8))
        try await work.deleteItem(id, authenticated: true)
        await #expect(throws: VaultError.of(.notSupported)) { try await work.protect("userPresence", "presence") }
        await vault.close()
    }

    @Test func newSecret_isSealedToThePasscodeOfLogin() async throws {
        let (vault, work) = try await opened()
        let id = try item("passcode", in: work)
        let passcode = try await vault.verifyPasscode(Fixture.bytes("own"), for: work)
        var key = try await work.itemKey(of: id, passcode: passcode)
        await #expect(throws: VaultError.of(.passcodeNotSet)) {
            try await work.updateItem(id, secret: Fixture.secret("new"), key: key)
        }
        _ = try await vault.unlockedLogin()
        try await work.updateItem(id, secret: Fixture.secret("new"), key: key)
        let own = try await vault.verifyPasscode(Fixture.bytes("own"), for: work)
        await #expect(throws: VaultError.of(.wrongPassword)) { _ = try await work.itemKey(of: id, passcode: own) }
        key = try await work.key(of: id, in: vault, passcode: Fixture.password)
        #expect(try await work.content(of: id, with: key) == Array("new".utf8))
        await vault.close()
    }
}

extension TemporaryFolder {
    /// Returns the key slots of a file, in hexadecimal.
    func slots(of file: String) throws -> String {
        try text("SELECT group_concat(id || hex(parameters) || hex(wrapped)) FROM slot", in: file)
    }
}
