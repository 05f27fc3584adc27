import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Changes of the secret and the access control of items with item keys.
@VaultActor
@Suite struct RekeyTests {
    private let folder = TemporaryFolder()
    private let needed = VaultError.of(.authenticationNeeded)

    private func opened() async throws -> (Vault, Collection) {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        return (vault, try await vault.unlockedLogin())
    }

    private func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(arguments: [10, 5000])
    func newSecret_withTheItemKey_keepsIt(size: Int) async throws {
        var (vault, login) = try await opened()
        let id = try await login.protect("applicationPassword", applicationPassword: "sesame")
        let key = try await login.key(of: id, in: vault, applicationPassword: "sesame")
        let secret = String(repeating: "n", count: size)
        try await login.updateItem(id, secret: Fixture.secret(secret), key: key)
        #expect(try await login.content(of: id, with: key) == text(secret))
        await vault.close()
        (vault, login) = try await opened()
        #expect(try await login.content(of: id, with: key) == text(secret))
        let again = try await login.key(of: id, in: vault, applicationPassword: "sesame")
        #expect(try await login.content(of: id, with: again) == text(secret))
        await vault.close()
    }

    @Test func newSecret_withoutTheItemKey_getsANewOne() async throws {
        let (vault, login) = try await opened()
        let id = try await login.protect("devicePasscode")
        let old = try await login.key(of: id, in: vault, passcode: Fixture.password)
        try await login.updateItem(id, secret: Fixture.secret("new"), authenticated: true)
        #expect(throws: needed) { _ = try login.secret(of: id, with: old) }
        await #expect(throws: needed) { try await login.updateItem(id, secret: Fixture.secret("x"), key: old) }
        let key = try await login.key(of: id, in: vault, passcode: Fixture.password)
        #expect(try await login.content(of: id, with: key) == text("new"))
        #expect(login.problem == nil)
        await vault.close()
    }

    @Test func newSecret_withoutKeyOrPassword_isRefused() async throws {
        let (vault, login) = try await opened()
        let id = try await login.protect("applicationPassword", applicationPassword: "sesame")
        await #expect(throws: VaultError.of(.applicationPasswordNeeded)) {
            try await login.updateItem(id, secret: Fixture.secret("new"), authenticated: true)
        }
        try await login.updateItem(
            id,
            secret: Fixture.secret("new"),
            applicationPassword: Fixture.bytes("other"),
            authenticated: true
        )
        let key = try await login.key(of: id, in: vault, applicationPassword: "other")
        #expect(try await login.content(of: id, with: key) == text("new"))
        await vault.close()
    }

    @Test(arguments: [10, 5000])
    func openItem_getsAnAccessControl_isSealedAgain(size: Int) async throws {
        let (vault, login) = try await opened()
        let secret = String(repeating: "s", count: size)
        let id = try await login.add("x", ["service": "bank"], secret: secret)
        try await login.updateItem(id, attributes: .protected("userPresence"))
        #expect(!login.needsItemKey(id))
        #expect(try await login.content(of: id) == text(secret))
        try await login.updateItem(id, attributes: .protected("devicePasscode"), authenticated: true)
        #expect(login.needsItemKey(id))
        await #expect(throws: needed) { _ = try await login.storedSecret(of: id) }
        let key = try await login.key(of: id, in: vault, passcode: Fixture.password)
        #expect(try await login.content(of: id, with: key) == text(secret))
        await vault.close()
    }

    @Test(arguments: [10, 5000])
    func accessControlChange_needsTheItemKey_andReplacesIt(size: Int) async throws {
        var (vault, login) = try await opened()
        let secret = String(repeating: "s", count: size)
        let id = try await login.protect("devicePasscode", secret: secret)
        let attributes = Attributes.protected("applicationPassword")
        await #expect(throws: needed) {
            try await login.updateItem(
                id,
                attributes: attributes,
                applicationPassword: Fixture.bytes("sesame"),
                authenticated: true
            )
        }
        let old = try await login.key(of: id, in: vault, passcode: Fixture.password)
        await #expect(throws: VaultError.of(.applicationPasswordNeeded)) {
            try await login.updateItem(id, attributes: attributes, key: old)
        }
        try await login.updateItem(
            id,
            attributes: attributes,
            key: old,
            applicationPassword: Fixture.bytes("sesame")
        )
        #expect(throws: needed) { _ = try login.secret(of: id, with: old) }
        await vault.close()
        (vault, login) = try await opened()
        await #expect(throws: needed) { _ = try await login.key(of: id, in: vault, passcode: Fixture.password) }
        let key = try await login.key(of: id, in: vault, applicationPassword: "sesame")
        #expect(try await login.content(of: id, with: key) == text(secret))
        await vault.close()
    }

    @Test func accessControlRemoval_needsTheItemKey() async throws {
        let (vault, login) = try await opened()
        let id = try await login.protect("devicePasscode")
        await #expect(throws: needed) {
            try await login.updateItem(id, attributes: ["service": "bank"], secret: nil, authenticated: true)
        }
        let key = try await login.key(of: id, in: vault, passcode: Fixture.password)
        try await login.updateItem(id, attributes: ["service": "bank"], key: key)
        #expect(!login.needsItemKey(id))
        #expect(try await login.content(of: id) == text("secret"))
        #expect(throws: needed) { _ = try login.secret(of: id, with: key) }
        await vault.close()
    }

    @Test func accessControlWithTheSameFactors_keepsTheSecret() async throws {
        let (vault, login) = try await opened()
        let id = try await login.protect("devicePasscode")
        let key = try await login.key(of: id, in: vault, passcode: Fixture.password)
        // An alternative with the passcode is wrapped for the passcode, with or without a finger.
        try await login.updateItem(
            id,
            attributes: .protected("devicePasscode and biometryAny"),
            secret: nil,
            authenticated: true
        )
        #expect(try await login.content(of: id, with: key) == text("secret"))
        try await login.updateItem(id, label: "other", authenticated: true)
        #expect(try await login.content(of: id, with: key) == text("secret"))
        await vault.close()
    }

    @Test func applicationPassword_canBeChanged() async throws {
        let (vault, login) = try await opened()
        let id = try await login.protect("applicationPassword", applicationPassword: "first")
        let key = try await login.key(of: id, in: vault, applicationPassword: "first")
        try await login.updateItem(id, key: key, applicationPassword: Fixture.bytes("second"))
        await #expect(throws: VaultError.of(.wrongApplicationPassword)) {
            _ = try await login.key(of: id, in: vault, applicationPassword: "first")
        }
        let next = try await login.key(of: id, in: vault, applicationPassword: "second")
        #expect(try await login.content(of: id, with: next) == text("secret"))
        await vault.close()
    }

    @Test func replacement_ofAnItemWithAnItemKey_getsANewOne() async throws {
        let (vault, login) = try await opened()
        let id = try await login.protect("devicePasscode")
        let old = try await login.key(of: id, in: vault, passcode: Fixture.password)
        let outcome = try await login.createItem(
            label: "new",
            attributes: .protected("devicePasscode"),
            secret: Fixture.secret("new"),
            replacing: true,
            authenticated: id
        )
        #expect(outcome == .replaced(id))
        #expect(throws: needed) { _ = try login.secret(of: id, with: old) }
        let key = try await login.key(of: id, in: vault, passcode: Fixture.password)
        #expect(try await login.content(of: id, with: key) == text("new"))
        await vault.close()
    }

    @Test func twoConcurrentAccessControlChanges_oneFails_andTheItemOpens() async throws {
        let (vault, login) = try await opened()
        let id = try await login.add("x", ["service": "bank"])
        let changes = ["devicePasscode", "userPresence", "biometryAny and devicePasscode"].map { accessControl in
            Task { @VaultActor in
                try await login.updateItem(id, attributes: .protected(accessControl), secret: nil, authenticated: true)
            }
        }
        var succeeded = 0
        for change in changes {
            do {
                try await change.value
                succeeded += 1
            } catch let error as VaultError {
                #expect([.authenticationNeeded, .busy].contains(error.code))
            }
        }
        #expect(succeeded >= 1)
        #expect(login.protection(of: id).needsAuthentication)
        if login.needsItemKey(id) {
            let key = try await login.key(of: id, in: vault, passcode: Fixture.password)
            #expect(try await login.content(of: id, with: key) == text("secret"))
        } else {
            #expect(try await login.content(of: id) == text("secret"))
        }
        await vault.close()
    }

    @Test func manyConcurrently_eachOpensWithItsItemKey() async throws {
        let (vault, login) = try await opened()
        let tasks = (0..<20).map { number in
            Task { @VaultActor in
                try await login.protect("devicePasscode", "s\(number)", secret: "secret \(number)")
            }
        }
        var ids: [ItemID] = []
        for task in tasks { ids.append(try await task.value) }
        let passcode = try await vault.verifyPasscode(Fixture.bytes(Fixture.password))
        for (number, id) in ids.enumerated() {
            let key = try await login.itemKey(of: id, passcode: passcode)
            #expect(try await login.content(of: id, with: key) == text("secret \(number)"))
        }
        await vault.close()
    }
}
