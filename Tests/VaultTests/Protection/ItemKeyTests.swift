import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Items with item keys.
@VaultActor
@Suite struct ItemKeyTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> (Vault, Collection) {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        return (vault, try await vault.unlockedLogin())
    }

    @Test func passcodeItem_unlockedCollection_needsThePasscode() async throws {
        let (vault, login) = try await opened()
        let id = try await login.protect("devicePasscode")
        #expect(login.needsItemKey(id))
        #expect(throws: VaultError.of(.authenticationNeeded)) { _ = try login.secret(of: id) }
        await #expect(throws: VaultError.of(.authenticationNeeded)) { _ = try await login.storedSecret(of: id) }
        let key = try await login.key(of: id, in: vault, passcode: Fixture.password)
        #expect(key.item == id)
        #expect(try login.secret(of: id, with: key)?.content == Array("secret".utf8))
        #expect(try await login.content(of: id, with: key) == Array("secret".utf8))
        #expect(login.problem == nil)
        await vault.close()
    }

    @Test func passcodeItem_reopened_opensWithThePasscodeOnly() async throws {
        var (vault, login) = try await opened()
        let id = try await login.createItem(
            label: "Bank",
            attributes: .protected("devicePasscode"),
            secret: Fixture.secret([0, 255, 10], contentType: "x/y"),
            replacing: false
        ).id
        await vault.close()
        (vault, login) = try await opened()
        #expect(login.item(id)?.label == "Bank")
        #expect(login.item(id)?.condition == .intact)
        #expect(throws: VaultError.of(.authenticationNeeded)) { _ = try login.secret(of: id) }
        let key = try await login.key(of: id, in: vault, passcode: Fixture.password)
        let secret = try await login.storedSecret(of: id, with: key)
        #expect(secret.content == [0, 255, 10])
        #expect(secret.contentType == "x/y")
        #expect(login.problem == nil)
        await vault.close()
    }

    @Test(arguments: [0, 1, 4060, 4096, 4097, 300_000])
    func protectedSecret_ofAnySize_isStoredExactly(size: Int) async throws {
        var (vault, login) = try await opened()
        let bytes = (0..<size).map { index in UInt8(truncatingIfNeeded: index &* 31 ^ index >> 8) }
        let id = try await login.createItem(
            label: "",
            attributes: .protected("devicePasscode"),
            secret: Fixture.secret(bytes),
            replacing: false
        ).id
        for _ in 0..<2 {
            let key = try await login.key(of: id, in: vault, passcode: Fixture.password)
            #expect(try await login.content(of: id, with: key) == bytes)
            await #expect(throws: VaultError.of(.authenticationNeeded)) { _ = try await login.storedSecret(of: id) }
            await vault.close()
            (vault, login) = try await opened()
        }
        await vault.close()
    }

    @Test func applicationPassword_opens_andAWrongOneIsReported() async throws {
        let (vault, login) = try await opened()
        let id = try await login.protect("applicationPassword", applicationPassword: "sesame")
        let key = try await login.key(of: id, in: vault, applicationPassword: "sesame")
        #expect(try await login.content(of: id, with: key) == Array("secret".utf8))
        await #expect(throws: VaultError.of(.wrongApplicationPassword)) {
            _ = try await login.key(of: id, in: vault, applicationPassword: "other")
        }
        await #expect(throws: VaultError.of(.authenticationNeeded)) {
            _ = try await login.key(of: id, in: vault, passcode: Fixture.password)
        }
        await #expect(throws: VaultError.of(.emptyPassword)) {
            _ = try await login.key(of: id, in: vault, applicationPassword: "")
        }
        await vault.close()
    }

    @Test func passcodeAndApplicationPassword_needsBoth() async throws {
        let (vault, login) = try await opened()
        let id = try await login.protect(
            "devicePasscode and applicationPassword",
            applicationPassword: "sesame"
        )
        let key = try await login.key(
            of: id,
            in: vault,
            passcode: Fixture.password,
            applicationPassword: "sesame"
        )
        #expect(try await login.content(of: id, with: key) == Array("secret".utf8))
        for (passcode, password) in [(Fixture.password, nil), (nil, "sesame")] as [(String?, String?)] {
            await #expect(throws: VaultError.of(.authenticationNeeded)) {
                _ = try await login.key(of: id, in: vault, passcode: passcode, applicationPassword: password)
            }
        }
        await #expect(throws: VaultError.of(.wrongApplicationPassword)) {
            _ = try await login.key(
                of: id,
                in: vault,
                passcode: Fixture.password,
                applicationPassword: "other"
            )
        }
        await vault.close()
    }

    @Test func alternatives_eachOpens() async throws {
        let (vault, login) = try await opened()
        let id = try await login.protect(
            "devicePasscode or biometryAny and applicationPassword",
            applicationPassword: "sesame"
        )
        let first = try await login.key(of: id, in: vault, passcode: Fixture.password)
        let second = try await login.key(of: id, in: vault, applicationPassword: "sesame")
        let third = try await login.key(
            of: id,
            in: vault,
            passcode: Fixture.password,
            applicationPassword: "wrong"
        )
        for key in [first, second, third] {
            #expect(try await login.content(of: id, with: key) == Array("secret".utf8))
        }
        await vault.close()
    }

    @Test(arguments: ["userPresence", "biometryAny", "biometryCurrentSet"])
    func policyWithABiometricAlternative_hasNoItemKey(accessControl: String) async throws {
        let (vault, login) = try await opened()
        let id = try await login.protect(accessControl)
        #expect(!login.needsItemKey(id))
        #expect(login.protection(of: id).needsAuthentication)
        #expect(try await login.content(of: id) == Array("secret".utf8))
        let passcode = try await vault.verifyPasscode(Fixture.bytes(Fixture.password))
        await #expect(throws: VaultError.of(.notSupported)) {
            _ = try await login.itemKey(of: id, passcode: passcode)
        }
        await vault.close()
    }

    @Test func itemKeyOfAnotherItem_opensNothing() async throws {
        let (vault, login) = try await opened()
        let first = try await login.protect("devicePasscode", "a", secret: "first")
        let second = try await login.protect("devicePasscode", "b", secret: "second")
        let key = try await login.key(of: first, in: vault, passcode: Fixture.password)
        #expect(throws: VaultError.of(.authenticationNeeded)) { _ = try login.secret(of: second, with: key) }
        let ordinary = try await login.add()
        #expect(throws: VaultError.of(.authenticationNeeded)) { _ = try login.secret(of: ordinary, with: key) }
        #expect(login.problem == nil)
        await vault.close()
    }

    @Test func lockedCollection_itemKeyOpensNothing() async throws {
        let (vault, login) = try await opened()
        let id = try await login.protect("devicePasscode")
        let key = try await login.key(of: id, in: vault, passcode: Fixture.password)
        login.lock()
        #expect(throws: VaultError.of(.locked)) { _ = try login.secret(of: id, with: key) }
        await #expect(throws: VaultError.of(.locked)) {
            _ = try await login.key(of: id, in: vault, passcode: Fixture.password)
        }
        await vault.close()
    }

    @Test func createItem_applicationPasswordMissingOrEmpty_isRefused() async throws {
        let (vault, login) = try await opened()
        await #expect(throws: VaultError.of(.applicationPasswordNeeded)) {
            try await login.protect("applicationPassword")
        }
        await #expect(throws: VaultError.of(.emptyPassword)) {
            try await login.protect("applicationPassword", applicationPassword: "")
        }
        #expect(login.itemCount == 0)
        await vault.close()
    }

    @Test func sessionCollection_passcodeItem_opensWithTheLoginPassword() async throws {
        let (vault, _) = try await opened()
        let session = try #require(vault.collection(named: .session))
        let id = try await session.protect("devicePasscode")
        #expect(throws: VaultError.of(.authenticationNeeded)) { _ = try session.secret(of: id) }
        let key = try await session.key(of: id, in: vault, passcode: Fixture.password)
        #expect(try await session.content(of: id, with: key) == Array("secret".utf8))
        await vault.close()
    }

    @Test func sessionCollection_noPasscode_isRefused() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let session = try #require(vault.collection(named: .session))
        await #expect(throws: VaultError.of(.passcodeNotSet)) { try await session.protect("devicePasscode") }
        let id = try await session.protect("applicationPassword", applicationPassword: "sesame")
        let key = try await session.key(of: id, in: vault, applicationPassword: "sesame")
        #expect(try await session.content(of: id, with: key) == Array("secret".utf8))
        await vault.close()
    }
}
