import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Keys that need the passcode are in memory only while they are used.
@VaultActor
@Suite(.serialized) struct KeyMemoryTests {
    private let folder = TemporaryFolder()

    /// The patterns to search for, each byte complemented.
    private struct Patterns {
        let secret: [UInt8]
        let passcodeKey: [UInt8]
        let itemKey: [UInt8]

        /// The private key as used by the Montgomery ladder: clamped, big-endian.
        var scalar: [UInt8] {
            var bytes = Array(passcodeKey.reversed())
            bytes[31] |= 0x07
            bytes[0] = bytes[0] & 0xbf | 0x80
            return bytes
        }

        /// Returns the occurrences of the secret, the private key, its scalar and the item key.
        func found() throws -> [Int] {
            try MemoryScan.count(ofComplements: [secret, passcodeKey, scalar, itemKey])
        }
    }

    private func complement(_ bytes: borrowing SecureBytes) -> [UInt8] {
        bytes.withUnsafeBytes { bytes in bytes.map { byte in ~byte } }
    }

    /// Creates an item with a random secret; another program derives its keys.
    private func prepare(_ login: Collection, secretBytes: Int) async throws -> (ItemID, Patterns) {
        let bytes = try SecureBytes.random(count: secretBytes)
        let pattern = Array(complement(bytes).prefix(64))
        let id = try await login.createItem(
            label: "label",
            attributes: .protected("devicePasscode"),
            secret: Secret(bytes: bytes, contentType: "x/y"),
            replacing: false
        ).id
        let copy = try folder.snapshot()
        let contents = try await OtherReader(copy).read(passwords: "\(Fixture.password)\n\(Fixture.password)")
        withExtendedLifetime(copy) {}
        let keys = contents.keys.map(OtherReader.bytes(hexadecimal:))
        try #require(keys.count == 2)
        return (id, Patterns(secret: pattern, passcodeKey: keys[0], itemKey: keys[1]))
    }

    @Test(arguments: [64, 100_000])
    func unlockedVault_holdsTheKeysOnlyDuringUse(secretBytes: Int) async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        let (id, patterns) = try await prepare(login, secretBytes: secretBytes)
        #expect(try patterns.found() == [0, 0, 0, 0], "after it was stored")
        do {
            let passcode = try await vault.verifyPasscode(Fixture.bytes(Fixture.password))
            // A match shows that the scan works.
            #expect(try patterns.found()[2] == 1)
            let key = try await login.itemKey(of: id, passcode: passcode)
            _ = consume passcode
            #expect(try patterns.found() == [0, 0, 0, 1], "while a grant has the key")
            let secret = try await login.storedSecret(of: id, with: key)
            let found = try patterns.found()
            #expect(found[0] >= 1, "while the secret is open")
            #expect(found[1...2] == [0, 0])
            #expect(secret.bytes.count == secretBytes)
        }
        #expect(try patterns.found() == [0, 0, 0, 0], "afterwards")
        await vault.close()
    }

    @Test func lockedCollection_hasNoSecretsKey() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        try await login.add()
        let copy = try folder.snapshot()
        let contents = try await OtherReader(copy).read(passwords: Fixture.password)
        let key = OtherReader.bytes(hexadecimal: contents.secretsKey)
        withExtendedLifetime(copy) {}
        #expect(try MemoryScan.count(ofComplements: [key])[0] > 0, "control: while it is unlocked")
        login.lock()
        // The thread of the file wipes it.
        try await eventually("the key to be wiped") { try MemoryScan.count(ofComplements: [key]) == [0] }
        await vault.close()
    }

    @Test func reopenedVault_holdsNoKeys() async throws {
        var vault = try await Vault.opened(Fixture.configuration(folder))
        var login = try await vault.unlockedLogin()
        let (id, patterns) = try await prepare(login, secretBytes: 64)
        await vault.close()
        vault = try await Vault.opened(Fixture.configuration(folder))
        login = try await vault.unlockedLogin()
        #expect(try patterns.found() == [0, 0, 0, 0])
        _ = try await login.key(of: id, in: vault, passcode: Fixture.password)
        login.lock()
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(try patterns.found() == [0, 0, 0, 0])
        await vault.close()
    }
}
