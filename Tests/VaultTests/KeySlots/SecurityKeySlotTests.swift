import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Key slots that the secret of a security key opens.
@VaultActor
@Suite struct SecurityKeySlotTests {
    private let folder = TemporaryFolder()

    private static let secret = [UInt8](repeating: 5, count: 32)

    private static func credential(
        _ id: [UInt8] = [1, 2, 3],
        salt: UInt8 = 9,
        needsPIN: Bool = false
    ) throws -> SecurityKeyCredential {
        try #require(
            SecurityKeyCredential(id: id, salt: [UInt8](repeating: salt, count: 32), needsPIN: needsPIN)
        )
    }

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    private func add(_ credential: SecurityKeyCredential, to login: Collection, secret: [UInt8] = secret) async throws {
        try await login.addSecurityKey(
            credential,
            secret: SecureBytes(copying: secret),
            label: "blue",
            openedBy: Fixture.bytes(Fixture.password)
        )
    }

    @Test func unlock_bySeveralKeys_afterARestartAndAPasswordChange() async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let id = try await login.add(secret: "kept")
        let credentials = [
            try Self.credential(), try Self.credential([UInt8](repeating: 7, count: 1023), needsPIN: true),
        ]
        try await add(credentials[0], to: login)
        try await add(credentials[1], to: login, secret: [UInt8](repeating: 6, count: 32))
        try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new"))
        await vault.close()
        vault = try await opened()
        login = try #require(vault.collection(named: .login))
        #expect(login.securityKeys == credentials)
        #expect(login.keySlots.map(\.label) == ["", "blue", "blue"])
        for byte in [UInt8(5), 6] {
            try await login.unlock(bySecurityKey: SecureBytes(copying: [UInt8](repeating: byte, count: 32)))
            #expect(login.unlockedBy == .securityKey)
            #expect(try await login.content(of: id) == Array("kept".utf8))
            login.lock()
        }
        await #expect(throws: VaultError.of(.wrongPassword)) {
            try await login.unlock(bySecurityKey: SecureBytes(copying: [UInt8](repeating: 7, count: 32)))
        }
        #expect(login.state == .locked)
        await vault.close()
    }

    @Test func unlock_touchedBeforeALock_isRefused() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await add(Self.credential(), to: login)
        let begun = vault.unlockStart
        login.lock()
        await #expect(throws: VaultError.of(.locked)) {
            try await login.unlock(bySecurityKey: SecureBytes(copying: Self.secret), begun: begun)
        }
        #expect(login.state == .locked)
        try await login.unlock(bySecurityKey: SecureBytes(copying: Self.secret))
        #expect(login.state == .unlocked)
        await vault.close()
    }

    @Test func add_secretOfAnotherSize_orAWrongPassword_isRefused() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        for size in [0, 16, 64] {
            await #expect(throws: VaultError.of(.notSupported)) {
                try await add(Self.credential(), to: login, secret: [UInt8](repeating: 5, count: size))
            }
        }
        await #expect(throws: VaultError.of(.wrongPassword)) {
            try await login.addSecurityKey(
                Self.credential(),
                secret: SecureBytes(copying: Self.secret),
                openedBy: Fixture.bytes("wrong")
            )
        }
        #expect(login.keySlots.count == 1)
        await vault.close()
    }

    /// The right secret of the right key is no use with a slot that somebody else has changed: not with another salt or
    /// credential, and not without the PIN that it needs.
    @Test(arguments: 0..<6)
    func changedParameter_neitherOpensNorSpoilsTheCollection(change: Int) async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        try await add(Self.credential(needsPIN: true), to: login)
        await vault.close()
        // PIN, salt, length, credential, time and label.
        let offset = [0, 1, 34, 36, 40, 46][change]
        try folder.tamper { image in
            var slots = try image.slots()
            slots[1].parameters[offset] ^= 1
            slots[1].checksum = try image.checksum(slots[1])
            try image.write(slots)
        }
        vault = try await opened()
        login = try #require(vault.collection(named: .login))
        #expect(login.keySlots.map(\.number) == [1, 2])
        await #expect(throws: VaultError.of(.wrongPassword)) {
            try await login.unlock(bySecurityKey: SecureBytes(copying: Self.secret))
        }
        #expect(login.state == .locked)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        await vault.close()
    }

    /// What a slot decodes to is bounded, whatever the file says.
    @Test func randomParameters_areCredentialsOrNothing() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        await vault.close()
        var random = SeededGenerator(seed: 5)
        for _ in 0..<60 {
            let size = Int.random(in: 0...120, using: &random)
            var parameters = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
            // Plausible ones are rare.
            if !parameters.isEmpty { parameters[0] &= 3 }
            if parameters.count > 34 { parameters[33] = 0 }
            try folder.tamper { image in
                var slot = LogImage.Slot(number: 2, kind: 5, parameters: parameters, wrapped: [0], checksum: [])
                slot.checksum = try image.checksum(slot)
                try image.write([image.slots()[0], slot])
            }
            vault = try await opened()
            let login = try #require(vault.collection(named: .login))
            #expect(login.keySlots.count == 2)
            for credential in login.securityKeys {
                #expect(parameters.count >= 35 + credential.id.count)
                #expect(credential.needsPIN == (parameters[0] == 1))
            }
            await #expect(throws: VaultError.of(.wrongPassword)) {
                try await login.unlock(bySecurityKey: SecureBytes(copying: Self.secret))
            }
            #expect(login.state == .locked)
            await vault.close()
        }
    }
}
