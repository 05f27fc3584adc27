import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

@VaultActor
@Suite struct KeySlotTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder, clock: clock))
    }

    @Test func keySlots_areListed_withKindTimeAndLabel() async throws {
        var vault = try await opened()
        let login = try await vault.unlockedLogin()
        let made = clock.now
        #expect(login.keySlots == [KeySlotInfo(number: 1, kind: .password, made: made, label: "")])
        clock.advance(seconds: 60)
        try await login.addPassword(
            Fixture.bytes("second"),
            label: "for the ☃",
            openedBy: Fixture.bytes(Fixture.password)
        )
        clock.advance(seconds: 60)
        _ = try await login.addRecoveryKey(label: "in the safe", openedBy: Fixture.bytes("second"))
        clock.advance(seconds: 60)
        try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new"))
        func expected(_ seconds: Int64) -> Timestamp {
            Timestamp(microsecondsSinceEpoch: made.microsecondsSinceEpoch + seconds * 1_000_000)
        }
        let slots = [
            KeySlotInfo(number: 1, kind: .password, made: expected(180), label: ""),
            KeySlotInfo(number: 2, kind: .password, made: expected(60), label: "for the ☃"),
            KeySlotInfo(number: 3, kind: .recoveryKey, made: expected(120), label: "in the safe"),
        ]
        #expect(login.keySlots == slots)
        await vault.close()
        vault = try await opened()
        #expect(vault.collection(named: .login)?.keySlots == slots)
        for password in ["new", "second"] {
            let login = try await vault.unlockedLogin(password)
            #expect(login.unlockedBy == .password)
            login.lock()
        }
        await vault.close()
    }

    @Test func removeKeySlot_allButTheLastPassword() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let key = try await login.addRecoveryKey(openedBy: Fixture.bytes(Fixture.password)).grouped()
        await #expect(throws: VaultError.of(.lastKeySlot)) { try await login.removeKeySlot(1) }
        await #expect(throws: VaultError.of(.noSuchKeySlot)) { try await login.removeKeySlot(7) }
        try await login.addPassword(Fixture.bytes("second"), label: "", openedBy: Fixture.bytes(Fixture.password))
        try await login.removeKeySlot(1)
        try await login.removeKeySlot(2)
        #expect(login.keySlots.map(\.number) == [3])
        login.lock()
        await #expect(throws: VaultError.of(.wrongPassword)) {
            try await login.unlock(with: Fixture.bytes(Fixture.password))
        }
        await #expect(throws: VaultError.of(.wrongPassword)) { try await login.unlock(with: key.copy(in: .locked)) }
        try await login.unlock(with: Fixture.bytes("second"))
        await #expect(throws: VaultError.of(.lastKeySlot)) { try await login.removeKeySlot(3) }
        await vault.close()
    }

    @Test func addPassword_wrongPassword_addsNothing() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        await #expect(throws: VaultError.of(.wrongPassword)) {
            try await login.addPassword(Fixture.bytes("second"), label: "", openedBy: Fixture.bytes("wrong"))
        }
        await #expect(throws: VaultError.of(.emptyPassword)) {
            try await login.addPassword(Fixture.bytes(""), label: "", openedBy: Fixture.bytes(Fixture.password))
        }
        let label = String(repeating: "x", count: Collection.keySlotLabelBytes + 1)
        await #expect(throws: VaultError.of(.limitExceeded)) {
            try await login.addPassword(Fixture.bytes("x"), label: label, openedBy: Fixture.bytes(Fixture.password))
        }
        #expect(login.keySlots.count == 1)
        await vault.close()
    }

    @Test func keySlots_tooMany_areRefused() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        for _ in 0..<63 { _ = try await login.addRecoveryKey(openedBy: Fixture.bytes(Fixture.password)) }
        await #expect(throws: VaultError.of(.limitExceeded)) {
            _ = try await login.addRecoveryKey(openedBy: Fixture.bytes(Fixture.password))
        }
        #expect(login.keySlots.count == 64)
        await vault.close()
    }

    @Test(arguments: ["parameters", "wrapped"])
    func passwordSlotDamaged_recoveryKeySetsANewPassword(column: String) async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        try await login.add("kept", secret: "kept")
        let key = try await login.addRecoveryKey(openedBy: Fixture.bytes(Fixture.password)).grouped()
        await vault.close()
        try folder.tamper { image in
            var slots = try image.slots()
            if column == "wrapped" { slots[0].wrapped[0] ^= 1 } else { slots[0].parameters[0] ^= 1 }
            try image.write(slots)
        }
        vault = try await opened()
        login = try #require(vault.collection(named: .login))
        #expect(login.keySlots.map(\.kind) == [.recoveryKey])
        #expect(!vault.hasPasscode)
        try await login.changePassword(from: key.copy(in: .locked), to: Fixture.bytes("new"))
        try await login.unlock(with: Fixture.bytes("new"))
        #expect(try await login.content(of: login.itemIDs[0]) == Array("kept".utf8))
        #expect(login.keySlots.map(\.number) == [2, 3])
        #expect(vault.hasPasscode)
        await vault.close()
    }

    @Test(arguments: [
        [], [0], .init(repeating: 0, count: 28), .init(repeating: 0, count: 1000), [0xff, 0xff, 0xff, 0xff],
    ])
    func invalidParameters_neitherCrashNorOpen(parameters: [UInt8]) async throws {
        var vault = try await opened()
        let login = try await vault.unlockedLogin()
        _ = try await login.addRecoveryKey(openedBy: Fixture.bytes(Fixture.password))
        await vault.close()
        for kind: UInt64 in [1, 3, 4, 5, 9] {
            // The forger need not care about the checksum.
            try folder.tamper { image in
                let forged = LogImage.Slot(
                    number: 5,
                    kind: kind,
                    parameters: parameters,
                    wrapped: [0],
                    checksum: [UInt8](repeating: 0, count: 8)
                )
                try image.write(image.slots().filter { slot in slot.number < 5 } + [forged])
            }
            vault = try await opened()
            let login = try await vault.unlockedLogin()
            #expect(login.keySlots.map(\.number) == [1, 2])
            // The number of a damaged slot is not used again.
            let next = try await login.addRecoveryKey(openedBy: Fixture.bytes(Fixture.password))
            _ = try next.grouped()
            let number = try #require(login.keySlots.last?.number)
            #expect(login.keySlots.map(\.number) == [1, 2, number] && number > 5)
            try await login.removeKeySlot(number)
            await vault.close()
        }
    }
}
